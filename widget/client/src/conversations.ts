// All known conversations. Records, messages and markers from the server update them.

import type { ChangedTopics } from './changed_topics.ts';
import { type ConversationKey, direct, isRoom, type PagedList, pageRoom, room } from './client.ts';
import { blank, type ConversationState, names, readUpTo, told } from './conversation_state.ts';
import { type Counts, withCounts } from './message_counts.ts';
import { cover, covers, find, isNewer, newest, trim } from './message_range.ts';
import { renamed } from './renamed_user.ts';
import { FIRST_PAGE, type Paging } from './snapshot.ts';
import type { Typing } from './typing.ts';
import type { Unsent } from './unsent.ts';
import type {
  ContactState,
  Conversation,
  Event,
  Message,
  Renamed,
  Room,
  SendTo,
  ThreadCount,
} from './wire.ts';

/** Bound of own messages whose conversation is not known yet. Older ones are dropped; `history` loads them later. */
const MAX_ORPHANS = 200;
/** Bound of changes to messages that are not loaded. An older page of `history` may still arrive after a change. */
const MAX_AHEAD = 200;
/** Bound of listed rooms in which the user is no member. */
const MAX_LISTED = 500;

export const FIRST_PAGES: Record<PagedList, Paging> = {
  main: FIRST_PAGE,
  archived: FIRST_PAGE,
  unread: FIRST_PAGE,
  mentions: FIRST_PAGE,
};

export class Conversations {
  readonly byKey = new Map<ConversationKey, ConversationState>();
  readonly keysById = new Map<string, ConversationKey>();
  /** Old key → new key of conversations whose other user has a new id. */
  readonly #moved = new Map<ConversationKey, ConversationKey>();
  /** How far each list has been loaded. */
  pages = { ...FIRST_PAGES };
  /** A message arrived in a conversation that the list does not have. The first page of the list must be read again. */
  listIsStale = false;
  #orphans: Message[] = [];
  #ahead = new Map<string, Message>();
  #countsAhead: Counts[] = [];
  /** Known rooms of which the user is not a member. */
  readonly listed = new Map<ConversationKey, Room>();

  constructor(
    private readonly changed: ChangedTopics,
    private readonly written: Unsent,
    private readonly typing: Typing,
    private readonly me: () => string | undefined,
    /** Messages of blocked authors are not counted as unread. */
    private readonly contacts: ReadonlyMap<string, ContactState>,
  ) {}

  /** The conversation of this key. If it is unknown: a blank one, which is not stored. */
  known(key: ConversationKey): ConversationState {
    return this.byKey.get(key) ?? blank(key);
  }

  /** The current key of a conversation, which may have changed. */
  keyNow(key: ConversationKey): ConversationKey {
    return this.byKey.has(key) ? key : (this.#moved.get(key) ?? key);
  }

  has(message: Message): boolean {
    const key = this.keysById.get(message.conversation);
    return key !== undefined && covers(this.known(key).stretches, message.seq);
  }

  /** Does the newest stretch contain the user's own message with this id? */
  hasOwn(key: ConversationKey, id: string): boolean {
    const last = newest(this.known(key).stretches);
    return last?.messages.some(one => one.id === id && one.from === this.me()) ?? false;
  }

  /** Returns false if the message is known. `counted`: the conversation's record already counts it as unread. */
  message(message: Message, how: 'live' | 'missed' | 'counted'): boolean {
    const known = this.#of(message);
    if (known === undefined || covers(known.stretches, message.seq)) {
      // The message may have arrived as the last one in the conversation's record. Remove its queued copy then, too.
      if (known && message.from === this.me()) this.written.unqueue(message.id);
      this.updated(message, this.me());
      return false;
    }
    known.stretches = cover(known.stretches, { from: message.seq, to: message.seq, messages: [message] });
    if (message.thread) countReply(known, message);
    known.top = Math.max(known.top, message.seq);
    known.active = Math.max(known.active, message.time);
    known.archived = false;
    this.typing.ends(known.key, message.from);
    // Answering a request accepts it.
    if (known.request === (message.from === this.me() ? 'received' : 'sent')) delete known.request;
    if (message.from === this.me()) {
      this.written.unqueue(message.id);
      // Posting moves the sender's own markers.
      told(known, message.seq, message.seq);
      if (how !== 'counted') readUpTo(known, message.seq, this.me());
    } else {
      if (!isRoom(known.key)) {
        known.theirReceived = Math.max(known.theirReceived, message.seq);
        known.theirRead = Math.max(known.theirRead, message.seq);
      }
      if (how !== 'counted' && message.seq > known.read && this.contacts.get(message.from) !== 'blocked') {
        known.unread += 1;
        if (names(message.body, this.me())) known.mentions += 1;
      }
    }
    this.changed.conversation(known.key);
    return true;
  }

  /** Replaces a message by its new version. If it is not loaded, the change waits for a page of `history`. */
  updated(message: Message, by: string | undefined): void {
    const key = this.keysById.get(message.conversation);
    const known = key && this.byKey.get(key);
    const before = known && find(known.stretches, message.seq);
    const me = this.me();
    if (!before) this.#keepAhead(by === me ? message : withMine(message, undefined, me));
    if (!known || !before || !isNewer(message, before)) return;
    const now = by === me ? message : withMine(message, before, me);
    known.stretches = cover(known.stretches, { from: now.seq, to: now.seq, messages: [now] });
    if (now.from !== me && now.seq > known.read) {
      known.mentions += Number(names(now.body, me)) - Number(names(before.body, me));
    }
    this.changed.conversation(known.key);
  }

  /** Applies the current reactions, votes and flags. Returns the key of the conversation if it is known. */
  counted(counts: Counts): ConversationKey | undefined {
    const key = this.keysById.get(counts.conversation);
    const before = key && find(this.known(key).stretches, counts.seq);
    const me = this.me();
    if (before) this.updated(withCounts(before, counts, me), me);
    else this.#countsAhead = [...this.#countsAhead, counts].slice(-MAX_AHEAD);
    return key;
  }

  /** Replaces the id of a user in all messages. */
  renamed(one: Renamed): void {
    for (const known of this.byKey.values()) {
      each(known, message => renamed(message, one));
      this.changed.conversation(known.key);
    }
  }

  /** Updates the count of a thread whose replies are in a gap. */
  replied({ conversation, seq: thread, replies: { count: number, last: time } }: ThreadCount): void {
    const key = this.keysById.get(conversation);
    if (!key) return;
    countReply(this.known(key), { thread, number, time });
    this.changed.conversation(key);
  }

  /** Drops the loaded messages: more of them have changed than the server sends. */
  forgetMessages(conversation: string): void {
    const key = this.keysById.get(conversation);
    const known = key && this.byKey.get(key);
    if (!known) return;
    known.stretches = [];
    this.changed.conversation(known.key);
  }

  acknowledged({ id, conversation, seq, time, request }: Event & { t: 'ack' }): void {
    const queued = this.written.queue.find(one => one.id === id);
    const key = queued?.key ?? this.keysById.get(conversation);
    if (key === undefined) {
      this.listIsStale = true;
      return;
    }
    const known = this.#adopt(key, conversation);
    known.top = Math.max(known.top, seq);
    if (request) known.request = 'sent';
    const from = this.me();
    if (!queued || from === undefined) return this.changed.conversation(key);
    const { body, replyTo, files, bears } = queued;
    const more = {
      ...(replyTo && { reply_to: replyTo }),
      ...(files && { files: [...files] }),
      ...bears?.shows,
    };
    this.message({ conversation, seq, from, id, body, time, ...more }, 'live');
  }

  /** Updates a room. If `now` has no role, the user's own role stays. */
  room(id: string, now: Room): void {
    const key = this.keysById.get(id);
    const known = key && this.byKey.get(key);
    if (!known) return;
    const role = now.role ?? known.room?.role;
    known.room = { ...now, ...(role && { role }) };
    this.changed.conversation(known.key);
  }

  /** Updates the number of members of a known room. */
  sized(id: string, members: number): ConversationKey | undefined {
    const key = this.keysById.get(id);
    const now = key && this.byKey.get(key)?.room;
    if (now) this.room(id, { ...now, members });
    return key;
  }

  /** Removes a pending request: the users are contacts now, and contacts need none. */
  agreed(user: string): void {
    const known = this.byKey.get(direct(user));
    if (!known?.request) return;
    delete known.request;
    this.changed.conversation(known.key);
  }

  /** The user is no longer a member of the room. Removes the conversation; a room stays known, without a role. */
  left(id: string): ConversationKey | undefined {
    const key = this.keysById.get(id);
    const known = key && this.byKey.get(key);
    if (!known) return undefined;
    this.byKey.delete(known.key);
    if (known.room) {
      const { role: _, ...rest } = known.room;
      this.list(known.key, rest);
    }
    this.written.forget(known.key);
    this.changed.conversation(known.key);
    return known.key;
  }

  list(key: ConversationKey, listed: Room): void {
    this.listed.delete(key);
    this.listed.set(key, listed);
    for (const oldest of this.listed.keys()) {
      if (this.listed.size <= MAX_LISTED) break;
      this.listed.delete(oldest);
    }
    this.changed.add(`conversation:${key}`);
  }

  marker(event: Event & { t: 'marker' }): void {
    const key = this.keysById.get(event.conversation);
    const known = key && this.byKey.get(key);
    if (!known) return;
    if (event.user === this.me()) {
      known.received = Math.max(known.received, event.received);
      if (event.read > known.read) readUpTo(known, event.read, this.me());
      if (event.unread !== undefined && event.read >= known.read) known.unread = event.unread;
      if (known.unread === 0) known.mentions = 0;
      told(known, event.received, event.read);
    } else {
      known.theirReceived = Math.max(known.theirReceived, event.received, event.read);
      known.theirRead = Math.max(known.theirRead, event.read);
    }
    this.changed.conversation(known.key);
  }

  history(event: Event & { t: 'history' }, request: { to: SendTo; before?: number; after?: number }): void {
    const key = this.keyOf(request.to);
    const messages = event.messages.map(one => this.#newest(one)).sort((a, b) => a.seq - b.seq);
    if (event.conversation === '' || (messages.length === 0 && !this.byKey.has(key))) return;
    const known = this.#adopt(key, event.conversation);
    const first = messages[0]?.seq;
    const last = messages.at(-1)?.seq;
    known.top = Math.max(known.top, last ?? 0);
    const from =
      request.after !== undefined ? request.after + 1 : event.more ? (first ?? request.before ?? 1) : 1;
    // The range must not extend beyond the newest message.
    const to =
      request.before !== undefined ? Math.min(request.before - 1, known.top) : (last ?? request.after ?? 0);
    known.stretches = cover(known.stretches, { from, to, messages });
    if (known.stretches.length > 0 && known.active === 0) known.active = messages.at(-1)?.time ?? 0;
    for (const one of messages) {
      if (one.from === this.me()) this.written.unqueue(one.id);
      if (one.thread) countReply(known, one);
    }
    this.changed.conversation(key);
  }

  /** The server's record of a conversation. */
  upsert(record: Conversation): void {
    const key = keyOfRecord(record);
    this.#rename(record.conversation, key);
    const known = this.#adopt(key, record.conversation);
    if (record.with) known.with = record.with.user;
    if (record.room) known.room = record.room;
    known.received = Math.max(known.received, record.received);
    told(known, record.received, record.read);
    known.theirReceived = Math.max(known.theirReceived, record.their_received);
    known.theirRead = Math.max(known.theirRead, record.their_read);
    known.mutedUntil = record.muted_until;
    known.pinned = record.pinned;
    known.archived = record.archived;
    if (record.request) known.request = record.request;
    else delete known.request;
    if (record.requested_by) known.requestedBy = record.requested_by.user;
    else delete known.requestedBy;
    known.markedUnread = record.marked_unread ?? false;
    known.draft = record.draft ?? '';
    this.written.heard(key, known.draft);
    known.active = Math.max(known.active, record.active);
    if (record.last) {
      const { seq } = record.last;
      known.top = Math.max(known.top, seq);
      known.stretches = cover(known.stretches, { from: seq, to: seq, messages: [record.last] });
      if (record.last.from === this.me()) this.written.unqueue(record.last.id);
    }
    // If the local read marker is ahead, the server's counts are older than it.
    if (record.read >= known.read) {
      known.read = record.read;
      known.unread = record.unread;
      known.mentions = record.mentions;
    } else {
      known.unread = Math.min(record.unread, Math.max(0, known.top - known.read));
      readUpTo(known, known.read, this.me());
    }
    this.changed.conversation(key);
    const mine = this.#orphans.filter(one => one.conversation === record.conversation);
    if (mine.length === 0) return;
    this.#orphans = this.#orphans.filter(one => one.conversation !== record.conversation);
    for (const one of mine) this.message(one, 'counted');
  }

  /** Counts unread messages again after messages were loaded, if the local read marker is ahead of the record's. */
  recount(record: Conversation): void {
    const key = this.keysById.get(record.conversation);
    const known = key && this.byKey.get(key);
    if (known && known.read > record.read) readUpTo(known, known.read, this.me());
  }

  /** The member has seen everything up to this seq. */
  seen(key: ConversationKey, seq: number): void {
    const known = this.byKey.get(key);
    if (!known || seq <= known.read) return;
    readUpTo(known, Math.min(seq, known.top), this.me());
    this.changed.conversation(key);
  }

  /** The leader has sent these markers to the server. */
  told({ key, received, read, now }: { key: ConversationKey; received: number; read: number; now: number }) {
    const known = this.byKey.get(key);
    if (!known) return;
    told(known, received, read);
    known.toldAt = now;
  }

  wroteIn(key: ConversationKey, time: number): void {
    const known = this.byKey.get(key);
    if (known) known.active = Math.max(known.active, time);
  }

  /** Frees memory: keeps the newest `keep` messages of the newest stretch. */
  trim(key: ConversationKey, keep: number): void {
    const known = this.byKey.get(key);
    if (known) known.stretches = trim(known.stretches, keep);
    this.changed.add(`timeline:${key}`);
  }

  keep(known: ConversationState): void {
    this.byKey.set(known.key, known);
    if (known.id !== undefined) this.keysById.set(known.id, known.key);
    this.changed.conversation(known.key);
  }

  clear(): void {
    for (const key of this.byKey.keys()) this.changed.conversation(key);
    this.byKey.clear();
    this.keysById.clear();
    this.#orphans = [];
    this.#ahead.clear();
    this.#countsAhead = [];
    this.listIsStale = false;
    this.pages = { ...FIRST_PAGES };
    this.changed.lists();
  }

  /** The key of the conversation that a command addresses. */
  keyOf(to: SendTo): ConversationKey {
    if ('user' in to) return direct(to.user);
    if ('page' in to) return pageRoom(to.page);
    return this.keysById.get(to.conversation) ?? room(to.conversation);
  }

  #keepAhead(message: Message): void {
    const place = placeOf(message);
    this.#ahead.delete(place);
    this.#ahead.set(place, message);
    for (const oldest of this.#ahead.keys()) {
      if (this.#ahead.size <= MAX_AHEAD) return;
      this.#ahead.delete(oldest);
    }
  }

  #newest(message: Message): Message {
    const ahead = this.#ahead.get(placeOf(message));
    let now = ahead && isNewer(ahead, message) ? ahead : message;
    for (const counts of this.#countsAhead) {
      if (placeOf(counts) === placeOf(now) && isNewer(counts, now)) now = withCounts(now, counts, this.me());
    }
    return now;
  }

  /**
   * Moves a conversation to the key of its record. A message that arrived before the record counted as direct, or the
   * other user has a new id.
   */
  #rename(id: string, key: ConversationKey): void {
    const before = this.keysById.get(id);
    const known = before !== undefined && before !== key && this.byKey.get(before);
    if (!known) return;
    this.byKey.delete(known.key);
    if (!isRoom(key)) {
      this.#moved.set(known.key, key);
      this.written.move(known.key, key);
    }
    this.changed.conversation(known.key);
    this.keep({ ...known, key, ...(isRoom(key) && { with: '' }) });
  }

  #of(message: Message): ConversationState | undefined {
    const key = this.keysById.get(message.conversation);
    if (key !== undefined) return this.byKey.get(key);
    this.listIsStale = true;
    if (message.from !== this.me()) return this.#adopt(direct(message.from), message.conversation);
    this.#orphans = [...this.#orphans, message].slice(-MAX_ORPHANS);
    return undefined;
  }

  #adopt(key: ConversationKey, id: string): ConversationState {
    const known = this.known(key);
    if (known.id === id) return known;
    // If the key has another id, the site was restored from a backup, and the old seqs are invalid.
    const own = known.id === undefined ? known : blank(key);
    own.id = id;
    this.keep(own);
    return own;
  }
}

/** A change by another user does not say which reactions and votes are the user's own. Keeps the known ones. */
function withMine(message: Message, before: Message | undefined, me: string | undefined): Message {
  const reactions = message.reactions?.map(one => {
    const mine =
      before?.reactions?.some(old => old.reaction === one.reaction && old.mine) ||
      (me !== undefined && one.users.includes(me));
    return mine ? { ...one, mine } : one;
  });
  const votes = before?.poll;
  const poll = message.poll && {
    ...message.poll,
    choices: message.poll.choices.map((one, at) => (votes?.choices[at]?.mine ? { ...one, mine: true } : one)),
  };
  return { ...message, ...(reactions && { reactions }), ...(poll && { poll }) };
}

/** Updates a thread's count. An own reply without a number is the next one: all earlier replies have arrived. */
function countReply(
  known: ConversationState,
  { thread = 0, number, time }: Pick<Message, 'thread' | 'number' | 'time'>,
): void {
  const root = find(known.stretches, thread);
  const before = root?.replies?.count ?? 0;
  const count = number ?? before + 1;
  if (!root || count <= before) return;
  const now = { ...root, replies: { count, last: time } };
  each(known, one => (one === root ? now : one));
}

/** Replaces each message by the result of `now`. */
function each(known: ConversationState, now: (message: Message) => Message): void {
  known.stretches = known.stretches.map(one => ({ ...one, messages: one.messages.map(now) }));
}

/** The key of the conversation of a record. */
export function keyOfRecord(record: {
  conversation: string;
  with?: { user: string };
  room?: { page?: string };
}): ConversationKey {
  if (record.with) return direct(record.with.user);
  return record.room?.page === undefined ? room(record.conversation) : pageRoom(record.room.page);
}

function placeOf({ conversation, seq }: Message | Counts): string {
  return `${seq} ${conversation}`;
}
