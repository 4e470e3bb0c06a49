// The call of a room that this tab was in before a reload. It needs no code of calls, since most reloads find no call.

import type { ConversationKey } from './client.ts';
import type { GroupCallsHost, RoomCall } from './group_calls.ts';

/** Calls of two users have the same key, because a tab is in one call at a time. */
export const KEY = 'kith:call';

/** The stored state of a room's call after a reload. Undefined for a call of two users, or for another format. */
export function keptRoom(
  storage: GroupCallsHost['storage'],
): Pick<RoomCall, 'room' | 'id' | 'media' | 'place'> | undefined {
  try {
    const kept = JSON.parse(storage?.getItem(KEY) ?? 'null');
    const { room, id, media, place } = kept ?? {};
    if (typeof room !== 'string' || typeof id !== 'string' || typeof place !== 'number') return undefined;
    return { room: room as ConversationKey, id, media: media === 'video' ? 'video' : 'audio', place };
  } catch {
    return undefined;
  }
}
