/** English. */

export const en = () => ({
  startCall: 'Start a call',
  callIn: (name: string) => `Call in ${name}`,
  callStands: (count: string) => `Call · ${count} in the call`,
  callIsFull: (count: string) => `The call is full (maximum ${count})`,
  inThisCall: 'You are in this call',
  joinCall: 'Join',
  leaveCall: 'Leave call',
  hereCount: (count: string) => `${count} in the call`,
  alone: 'Nobody else has joined yet',
  cameIn: (name: string) => `${name} joined the call.`,
  wentOut: (name: string) => `${name} left the call.`,
  states: {
    connecting: 'Connecting…',
    away: 'Reconnecting…',
    unreachable: 'Not reachable from your network',
    apart: 'Not connected to you',
  },
  outs: {
    left: 'You left the call.',
    taken_out: 'You were removed from the call.',
    tooLarge: 'This room has too many members for calls.',
    notAllowed: 'You cannot join calls in this room.',
  },
});

export type GroupWords = ReturnType<typeof en>;
