// Whether the member may write in a room, by the server's rules.

import type { RoomView } from '@kith/client';

export function keepsOrder(room: RoomView | undefined): boolean {
  return room?.role === 'owner' || room?.role === 'moderator';
}

/** The reason why the member may not write; undefined if the member may. */
export function silenced(room: RoomView): 'stranger' | 'announcement' | 'muted' | 'frozen' | undefined {
  if (room.role === undefined) return 'stranger';
  if (keepsOrder(room)) return undefined;
  if (room.role === 'muted') return 'muted';
  if (room.frozen) return 'frozen';
  return room.kind === 'announcement' ? 'announcement' : undefined;
}
