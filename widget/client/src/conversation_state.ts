// One conversation as far as it is known here.

import { type ConversationKey, isRoom } from './client.ts';
import { around, type MessageRange, newest } from './message_range.ts';
import type { RequestState, Room } from './wire.ts';

export interface ConversationState {
  key: ConversationKey;
  /** The server's id; undefined until a message exists. */
  id?: string;
  /** The other one; '' in a room. */
  with: string;
  room?: Room;
  received: number;
  read: number;
  theirReceived: number;
  theirRead: number;
  unread: number;
  mentions: number;
  mutedUntil: number;
  pinned: boolean;
  archived: boolean;
  /** It waits for an answer. */
  request?: RequestState;
  /** The member who asks this user into the room. */
  requestedBy?: string;
  markedUnread?: boolean;
  /** As the server has it; what is written here may be newer. */
  draft?: string;
  active: number;
  /** Highest seq that is known to exist. */
  top: number;
  /** The markers that the server has, or was told; the leader tells it the difference. */
  toldReceived: number;
  toldRead: number;
  /** When it was told last: it may have been lost with a connection that broke just then. */
  toldAt?: number;
  stretches: readonly MessageRange[];
}

export function blank(key: ConversationKey): ConversationState {
  return {
    key,
    with: isRoom(key) ? '' : key.slice(1),
    received: 0,
    read: 0,
    theirReceived: 0,
    theirRead: 0,
    unread: 0,
    mentions: 0,
    mutedUntil: 0,
    pinned: false,
    archived: false,
    active: 0,
    top: 0,
    toldReceived: 0,
    toldRead: 0,
    stretches: [],
  };
}

/** In which list it is. */
export function listOf(known: ConversationState): 'main' | 'archived' | 'requests' {
  if (known.archived) return 'archived';
  return known.request === 'received' ? 'requests' : 'main';
}

/** It belongs into a list: a room of which one is no member is only looked at, unless one was asked into it. */
export function isOwn(known: ConversationState): boolean {
  return !isRoom(known.key) || known.room?.role !== undefined || known.request === 'received';
}

export function told(known: ConversationState, received: number, read: number): void {
  known.toldRead = Math.max(known.toldRead, read);
  known.toldReceived = Math.max(known.toldReceived, received, read);
}

/** Are there unread messages before `from`? Replies in threads have no row of their own, so they are not looked for. */
export function skipsUnread(
  { read, unread, stretches }: ConversationState,
  from: number,
  me: string | undefined,
): boolean {
  if (unread === 0 || from <= read + 1) return false;
  const loaded = around(stretches, from);
  return (
    !loaded ||
    loaded.from > read + 1 ||
    loaded.messages.some(one => one.seq > read && one.seq < from && !one.thread && one.from !== me)
  );
}

/** Counts anew what is left, where all of it is here to be counted. */
export function readUpTo(known: ConversationState, seq: number, me: string | undefined): void {
  const before = known.read;
  if (seq > before) known.markedUnread = false;
  known.read = Math.max(before, seq);
  known.received = Math.max(known.received, known.read);
  if (known.read >= known.top) {
    known.unread = 0;
    known.mentions = 0;
    return;
  }
  const window = newest(known.stretches);
  if (window && window.from <= known.read + 1 && window.to >= known.top) {
    const left = window.messages.filter(one => one.seq > known.read && one.from !== me);
    known.unread = left.length;
    known.mentions = left.filter(one => names(one.body, me)).length;
    return;
  }
  // The server counts the rest; what was read now is counted here.
  const read = around(known.stretches, known.read);
  if (!read || read.from > before + 1) return;
  const now = read.messages.filter(one => one.seq > before && one.seq <= known.read && one.from !== me);
  known.unread = Math.max(0, known.unread - now.length);
  known.mentions = Math.max(0, known.mentions - now.filter(one => names(one.body, me)).length);
}

/** Does the text name this user as `@id`, followed by no letter, digit, `_` or `-`? The store counts alike. */
export function names(body: string, user: string | undefined): boolean {
  if (user === undefined) return false;
  const name = `@${user}`;
  for (let at = body.indexOf(name); at >= 0; at = body.indexOf(name, at + 1)) {
    if (!/^[\p{L}\p{N}_-]/u.test(body.slice(at + name.length))) return true;
  }
  return false;
}
