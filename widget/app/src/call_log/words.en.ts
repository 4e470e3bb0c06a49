/** English. */

export const en = () => ({
  callOne: 'Call',
  callWithVoice: 'Audio call',
  callWithVideo: 'Video call',
  callLine: {
    audio: {
      ended: (time: string) => `Audio call, ${time}`,
      lost: (time: string) => `Audio call, ${time}, then the connection was lost`,
      notAnswered: 'Audio call: no answer',
      declined: 'Audio call: declined',
      youDeclined: 'Audio call: you declined',
      busy: 'Audio call: busy',
      missed: 'Missed audio call',
    },
    video: {
      ended: (time: string) => `Video call, ${time}`,
      lost: (time: string) => `Video call, ${time}, then the connection was lost`,
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
  hideAddress: 'Hide my network address',
  hideAddressHint: 'Calls go through the server’s relay, never directly',
  checkCalls: 'Check microphone, camera and network',
  checkCallsHint: 'Before a call, or when one did not work',
});

export type CallLogWords = ReturnType<typeof en>;
