/** English. */

export const en = () => ({
  callOne: 'Call',
  callWithVoice: 'Audio call',
  callWithVideo: 'Video call',
  callLine: {
    audio: {
      ended: (time: string) => `Audio call, ${time}`,
      lost: (time: string) => `Audio call, ${time}, connection lost`,
      notAnswered: 'Audio call: no answer',
      declined: 'Audio call: declined',
      youDeclined: 'Audio call: you declined',
      busy: 'Audio call: busy',
      missed: 'Missed audio call',
    },
    video: {
      ended: (time: string) => `Video call, ${time}`,
      lost: (time: string) => `Video call, ${time}, connection lost`,
      notAnswered: 'Video call: no answer',
      declined: 'Video call: declined',
      youDeclined: 'Video call: you declined',
      busy: 'Video call: busy',
      missed: 'Missed video call',
    },
  },
  callBack: 'Call back',
  callOnceMore: 'Call again',
  callsTitle: 'Calls',
  hideAddress: 'Hide my IP address',
  hideAddressHint: 'Calls always use the server’s relay',
  checkCalls: 'Check microphone, camera and network',
  checkCallsHint: 'Test your setup before a call',
});

export type CallLogWords = ReturnType<typeof en>;
