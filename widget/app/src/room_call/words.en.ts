/** English. */

export const en = () => ({
  startCall: 'Start a call in this room',
  callIn: (name: string) => `Call in ${name}`,
  callStands: (count: string) => `Call · ${count} here`,
  callIsFull: (count: string) => `The call is full: ${count} can take part`,
  inThisCall: 'You are in this call',
  joinCall: 'Join',
  leaveCall: 'Leave the call',
  hereCount: (count: string) => `${count} here`,
  alone: 'Nobody else is here yet',
  cameIn: (name: string) => `${name} has joined the call.`,
  wentOut: (name: string) => `${name} has left the call.`,
  states: {
    connecting: 'Connecting…',
    away: 'Connection lost, please wait…',
    unreachable: 'Cannot be reached from your network',
    apart: 'Not connected to you',
  },
  outs: {
    left: 'You have left the call.',
    taken_out: 'You are no longer in this call.',
    tooLarge: 'This room has too many members for calls.',
    notAllowed: 'You cannot take part in calls in this room.',
  },
});

export type GroupWords = ReturnType<typeof en>;
