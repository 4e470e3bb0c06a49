// The layout of the bar: the chats that are open as windows side by side, and those minimized as heads.

import type { ConversationKey } from '@kith/client';

export interface Arrangement {
  /** The window nearest to the corner is first. Windows that do not fit are shown as heads until they fit. */
  windows: readonly ConversationKey[];
  heads: readonly ConversationKey[];
}

export const NOTHING: Arrangement = { windows: [], heads: [] };

/** Maximum number of windows and heads together. The oldest ones are dropped. */
const MOST_KEPT = 12;

/** A visible chat keeps its place. All other chats open at the corner, where members look first. */
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

/** Replaces a chat's key in place. If the new key is already present, only that one stays. */
export function moved(before: Arrangement, from: ConversationKey, to: ConversationKey): Arrangement {
  if (before.windows.includes(to) || before.heads.includes(to)) return closed(before, from);
  const follow = (keys: readonly ConversationKey[]) => keys.map(key => (key === from ? to : key));
  return { windows: follow(before.windows), heads: follow(before.heads) };
}

/** The layout to show if `room` windows fit. */
export function drawn({ windows, heads }: Arrangement, room: number): Arrangement {
  return { windows: windows.slice(0, room), heads: [...windows.slice(room), ...heads] };
}

/** Pixels: the width of a window with its gap, and the width for the panel and the corners. */
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
