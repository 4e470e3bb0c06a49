// The room's call that this tab was in before a reload. Without the code of calls: most reloads find none.

import type { ConversationKey } from './client.ts';
import type { GroupCallsHost, RoomCall } from './group_calls.ts';

/** Shared with calls of two, because a tab is in one call. */
export const KEY = 'kith:call';

/** The stored state of a room's call after a reload; nothing for a call of two, or in another format. */
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
