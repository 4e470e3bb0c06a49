// Which chats stand open side by side, and which are put away as heads.

import type { ConversationKey } from '@kith/client';

export interface Arrangement {
  /** Nearest to the corner first. Those for which there is no room are drawn as heads, until there is. */
  windows: readonly ConversationKey[];
  heads: readonly ConversationKey[];
}

export const NOTHING: Arrangement = { windows: [], heads: [] };

/** Both together; what is older goes. */
const MOST_KEPT = 12;

/** A visible chat keeps its place. All others open at the corner, where the eye is. */
export function opened(before: Arrangement, key: ConversationKey, room: number): Arrangement {
  if (before.windows.slice(0, room).includes(key)) return before;
  return bounded({ windows: [key, ...without(before.windows, key)], heads: without(before.heads, key) });
}

export function putAway(before: Arrangement, key: ConversationKey): Arrangement {
  return { windows: without(before.windows, key), heads: [key, ...without(before.heads, key)] };
}

export function closed(before: Arrangement, key: ConversationKey): Arrangement {
  return { windows: without(before.windows, key), heads: without(before.heads, key) };
}

/** It goes on under another key, in the place where it was; or where that one is already. */
export function moved(before: Arrangement, from: ConversationKey, to: ConversationKey): Arrangement {
  if (before.windows.includes(to) || before.heads.includes(to)) return closed(before, from);
  const follow = (keys: readonly ConversationKey[]) => keys.map(key => (key === from ? to : key));
  return { windows: follow(before.windows), heads: follow(before.heads) };
}

/** As it is drawn where there is room for so many windows. */
export function drawn({ windows, heads }: Arrangement, room: number): Arrangement {
  return { windows: windows.slice(0, room), heads: [...windows.slice(room), ...heads] };
}

/** A window and the space beside it; the panel and the corners need the rest. */
const WINDOW = 340;
const REST = 400;

export function roomFor(viewport: number): number {
  return Math.max(1, Math.floor((viewport - REST) / WINDOW));
}

function bounded({ windows, heads }: Arrangement): Arrangement {
  return {
    windows: windows.slice(0, MOST_KEPT),
    heads: heads.slice(0, Math.max(0, MOST_KEPT - windows.length)),
  };
}

function without(keys: readonly ConversationKey[], key: ConversationKey): readonly ConversationKey[] {
  return keys.filter(one => one !== key);
}
