// The known state of one conversation.

import { type ConversationKey, isRoom } from './client.ts';
import { around, type MessageRange, newest } from './message_range.ts';
import type { RequestState, Room } from './wire.ts';

export interface ConversationState {
  key: ConversationKey;
  /** The server's id; undefined until a message exists. */
  id?: string;
  /** The other user; '' in a room. */
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
  /** Set while a message request waits for an answer. */
  request?: RequestState;
  /** The member who invites this user into the room. */
  requestedBy?: string;
  markedUnread?: boolean;
  /** The draft that the server has. The local draft may be newer. */
  draft?: string;
  active: number;
  /** The highest seq that is known to exist. */
  top: number;
  /** The markers that the server has, or that were sent to it. The leader sends newer ones. */
  toldReceived: number;
  toldRead: number;
  /** The time of the last sent markers. They may be lost if the connection broke at that time. */
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

/** The list in which the conversation is shown. */
export function listOf(known: ConversationState): 'main' | 'archived' | 'requests' {
  if (known.archived) return 'archived';
  return known.request === 'received' ? 'requests' : 'main';
}

/** Is the conversation shown in a list? A room without membership is not, unless the user was invited into it. */
export function isOwn(known: ConversationState): boolean {
  return !isRoom(known.key) || known.room?.role !== undefined || known.request === 'received';
}

export function told(known: ConversationState, received: number, read: number): void {
  known.toldRead = Math.max(known.toldRead, read);
  known.toldReceived = Math.max(known.toldReceived, received, read);
}

/** Are there unread messages before `from`? Replies in threads are ignored, because the chat shows no row for them. */
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

/** Moves the read marker, and counts the remaining unread messages if all of them are loaded. */
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
  // Some unread messages are not loaded, so subtract the newly read ones from the server's counts.
  const read = around(known.stretches, known.read);
  if (!read || read.from > before + 1) return;
  const now = read.messages.filter(one => one.seq > before && one.seq <= known.read && one.from !== me);
  known.unread = Math.max(0, known.unread - now.length);
  known.mentions = Math.max(0, known.mentions - now.filter(one => names(one.body, me)).length);
}

/** Does the text contain `@id`, not followed by a letter, digit, `_` or `-`? The store uses the same rule. */
export function names(body: string, user: string | undefined): boolean {
  if (user === undefined) return false;
  const name = `@${user}`;
  for (let at = body.indexOf(name); at >= 0; at = body.indexOf(name, at + 1)) {
    if (!/^[\p{L}\p{N}_-]/u.test(body.slice(at + name.length))) return true;
  }
  return false;
}
