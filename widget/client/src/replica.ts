// One tab's copy of what the browser knows: changes go in, the names of what changed come out. No clock, no network.

import type { Action, Change, Queued } from './change.ts';
import {
  type ConversationKey,
  direct,
  type Happenings,
  type KnownPerson,
  type PresenceView,
  type Message as SeenMessage,
  type Status,
  type Topic,
} from './client.ts';
import { cover, covers, newest, type Stretch, trim } from './stretch.ts';
import {
  COMES_BACK,
  type Code,
  type Command,
  type Contact,
  type ContactState,
  type Conversation,
  type Event,
  type Limits,
  type Message,
  type Person,
  type Presence,
  type SendTo,
  type SetPresence,
  type Welcome,
} from './wire.ts';

/** One conversation as far as it is known here. */
export interface Known {
  key: ConversationKey;
  /** The server's id; undefined until a message exists. */
  id?: string;
  with: string;
  received: number;
  read: number;
  theirReceived: number;
  theirRead: number;
  unread: number;
  mentions: number;
  mutedUntil: number;
  pinned: boolean;
  archived: boolean;
  active: number;
  /** Highest seq that is known to exist. */
  top: number;
  /** The markers that the server has, or was told; the leader tells it the difference. */
  toldReceived: number;
  toldRead: number;
  /** When it was told last: it may have been lost with a connection that broke just then. */
  toldAt?: number;
  stretches: readonly Stretch[];
}

/** How far a paged list has been loaded. `more` with no `next`: begin at its first page. */
export interface Paging {
  more: boolean;
  next?: string;
}

/** Everything, as plain data: what a tab gets when it joins, and, trimmed, what is kept on disk. */
export interface Snapshot {
  v: 1;
  position?: string;
  me?: KnownPerson;
  presence: SetPresence;
  open: boolean;
  limits?: Limits;
  conversations: Known[];
  main: Paging;
  archived: Paging;
  people: KnownPerson[];
  contacts: [user: string, state: ContactState][];
  contactPages: Paging;
  presences: [user: string, presence: Presence, lastSeen: number | undefined][];
  contactsTold: Replica['contactsTold'];
  queue: Queued[];
  drafts: [key: ConversationKey, text: string][];
  status: Status;
  /** With it another tab goes on as the same guest. No part of the cache: it is kept for itself, if at all. */
  guestToken?: string;
}

export const UNKNOWN: PresenceView = { presence: 'unknown' };
const OFFLINE: PresenceView = { presence: 'offline' };
const FIRST_PAGE: Paging = { more: true };
const TYPING_LAPSES_MS = 6_000;
/** Messages of conversations that are not in the list yet; beyond, the oldest are left to `history`. */
const MAX_ORPHANS = 200;
export const MAX_QUEUED = 500;
export const MAX_DRAFT_CHARS = 16_000;
const CACHED_CONVERSATIONS = 50;
const CACHED_MESSAGES = 30;

export class Replica {
  position: string | undefined;
  me: KnownPerson | undefined;
  presence: SetPresence = 'online';
  open = false;
  limits: Limits | undefined;
  guestToken: string | undefined;
  status: Status = { state: 'idle', shared: false };
  readonly conversations = new Map<ConversationKey, Known>();
  readonly keysById = new Map<string, ConversationKey>();
  main: Paging = FIRST_PAGE;
  archived: Paging = FIRST_PAGE;
  readonly people = new Map<string, KnownPerson>();
  readonly contacts = new Map<string, ContactState>();
  contactPages: Paging = FIRST_PAGE;
  readonly presences = new Map<string, PresenceView>();
  /** Which contacts who are here the server has named. After `all`, of whom it has said nothing is not here. */
  contactsTold: 'no' | 'some' | 'all' = 'no';
  /** In the order of writing. */
  queue: readonly Queued[] = [];
  readonly drafts = new Map<ConversationKey, string>();
  readonly typing = new Map<ConversationKey, Map<string, number>>();
  /** A message came of a conversation that the list does not have: its first page must be read again. */
  listIsStale = false;

  #orphans: Message[] = [];
  #welcomed = false;
  #changed = new Set<Topic>();
  #happened: { [K in keyof Happenings]: [K, Happenings[K]] }[keyof Happenings][] = [];

  /** Topics that changed since the last call. */
  takeChanged(): Set<Topic> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  takeHappened(): { [K in keyof Happenings]: [K, Happenings[K]] }[keyof Happenings][] {
    const happened = this.#happened;
    this.#happened = [];
    return happened;
  }

  apply(change: Change): void {
    switch (change.c) {
      case 'event':
        return this.#event(change.event, change);
      case 'action':
        return this.#action(change.action);
      case 'status':
        return this.#status(change.status);
      case 'unseen':
        for (const user of change.users)
          this.#setPresence(user, 'offline', this.presences.get(user)?.lastSeen);
        return;
      case 'unwatched':
        // What was told of all is told anew with the next watch; what was told of some would not be.
        if (this.contactsTold === 'some') this.contactsTold = 'no';
        return;
      case 'told': {
        const known = this.conversations.get(change.key);
        if (!known) return;
        told(known, change.received, change.read);
        known.toldAt = change.now;
      }
    }
  }

  /** The conversation of this key; made up where there is none yet, and then not kept. */
  known(key: ConversationKey): Known {
    return this.conversations.get(key) ?? blank(key);
  }

  presenceOf(user: string): PresenceView {
    const unnamed = this.contactsTold === 'all' && this.contacts.get(user) === 'contact' ? OFFLINE : UNKNOWN;
    return this.presences.get(user) ?? unnamed;
  }

  /** Ends typing that was not said again. Answers when to ask next. */
  lapse(now: number): number | undefined {
    let next: number | undefined;
    for (const [key, writers] of this.typing) {
      for (const [user, until] of writers) {
        if (until <= now) {
          writers.delete(user);
          this.#changed.add(`typing:${key}`);
        } else next = Math.min(next ?? until, until);
      }
      if (writers.size === 0) this.typing.delete(key);
    }
    return next;
  }

  /** Frees the memory of what nobody looks at. */
  forget(key: ConversationKey, keep: number): void {
    const known = this.conversations.get(key);
    if (known) known.stretches = trim(known.stretches, keep);
    this.#changed.add(`timeline:${key}`);
  }

  snapshot(): Snapshot {
    return {
      v: 1,
      ...(this.position !== undefined && { position: this.position }),
      ...(this.me && { me: this.me }),
      presence: this.presence,
      open: this.open,
      ...(this.limits && { limits: this.limits }),
      conversations: [...this.conversations.values()].map(one => ({ ...one })),
      main: this.main,
      archived: this.archived,
      people: [...this.people.values()],
      contacts: [...this.contacts],
      contactPages: this.contactPages,
      presences: [...this.presences].map(([user, { presence, lastSeen }]) => [user, presence, lastSeen]),
      contactsTold: this.contactsTold,
      queue: [...this.queue],
      drafts: [...this.drafts],
      status: this.status,
      ...(this.guestToken !== undefined && { guestToken: this.guestToken }),
    };
  }

  /**
   * What is worth keeping over a page change: the top of the list and the newest messages. Contacts and presence
   * are left out, they are read again; a list that was cut says so by paging from its first page.
   */
  cache(): Snapshot {
    const { guestToken: _, ...all } = this.snapshot();
    const conversations = all.conversations
      .sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.active - a.active)
      .slice(0, CACHED_CONVERSATIONS)
      .map(one => ({ ...one, stretches: trim(one.stretches, CACHED_MESSAGES) }));
    const shown = new Set(conversations.map(one => one.with));
    return {
      ...all,
      conversations,
      main: FIRST_PAGE,
      archived: FIRST_PAGE,
      people: all.people.filter(one => shown.has(one.user)),
      contacts: [],
      contactPages: FIRST_PAGE,
      presences: [],
      contactsTold: 'no',
      status: { state: 'idle', shared: false },
    };
  }

  /** Takes another's knowledge instead of the own. */
  restore(from: Snapshot): void {
    this.#forgetAll();
    this.position = from.position;
    this.me = from.me;
    this.presence = from.presence;
    this.open = from.open;
    this.limits = from.limits;
    this.guestToken = from.guestToken;
    for (const one of from.conversations) this.#keep({ ...one });
    this.main = from.main;
    this.archived = from.archived;
    for (const one of from.people) this.people.set(one.user, one);
    for (const [user, state] of from.contacts) this.contacts.set(user, state);
    this.contactPages = from.contactPages;
    for (const [user, presence, lastSeen] of from.presences) this.#setPresence(user, presence, lastSeen);
    this.contactsTold = from.contactsTold;
    this.queue = from.queue;
    this.drafts.clear();
    for (const [key, text] of from.drafts) this.#setDraft(key, text);
    for (const one of this.queue) this.#touch(one.key);
    this.#status(from.status);
    this.#changed.add('me').add('contacts');
  }

  // -- what the server says --

  #event(event: Event, { request, now }: { request?: Command; now: number }): void {
    switch (event.t) {
      case 'welcome':
        return this.#welcome(event, now);
      case 'ack':
        this.position = event.position;
        return this.#acknowledged(event);
      case 'error':
        if (event.id !== undefined) this.#refused(event.id, event.code);
        return;
      case 'message':
        this.position = event.position;
        return this.#message(event, 'live');
      case 'marker':
        this.position = event.position;
        return this.#marker(event);
      case 'typing':
        return this.#typingEvent(event, now);
      case 'presence':
        if (event.user === this.me?.user) return;
        return this.#setPresence(event.user, event.presence, event.last_seen);
      case 'watching':
        return this.#watching(event);
      case 'contact':
        this.position = event.position;
        this.#contact(event.contact);
        if (event.re === undefined && /^(request_received|contact)$/.test(event.contact.state)) {
          this.#happened.push(['contact', event.contact]);
        }
        return;
      case 'contacts':
        if (request?.t !== 'contacts') return;
        for (const one of event.contacts) this.#contact(one);
        this.contactPages = paging(event.next);
        this.#changed.add('contacts');
        return;
      case 'people':
      case 'profiles':
        for (const one of event.people) this.#person(one);
        return;
      case 'conversations':
        if (request?.t !== 'conversations') return;
        for (const one of event.conversations) this.#upsert(one);
        if (request.archived) this.archived = paging(event.next);
        else this.main = paging(event.next);
        this.#changed.add(request.archived ? 'archived' : 'conversations');
        return;
      case 'conversation':
        this.position = event.position;
        return this.#upsert(event.conversation);
      case 'history':
        if (request?.t !== 'history') return;
        return this.#history(event, request);
      case 'changes':
        if (event.reset) this.#forgetAll();
        this.#difference(event, !event.reset);
        if (event.reset) this.#page(event);
        this.position = event.position;
    }
  }

  #welcome(welcome: Welcome, now: number): void {
    if (!welcome.resumed || this.me?.user !== welcome.me.user) this.#forgetAll();
    if (this.me && this.me.user !== welcome.me.user) this.#forgetWritten();
    const again = this.#welcomed;
    this.#welcomed = true;
    this.#person(welcome.me);
    this.me = this.people.get(welcome.me.user);
    this.presence = welcome.presence;
    this.open = welcome.open;
    this.limits = welcome.limits;
    this.guestToken = welcome.guest_token ?? (welcome.me.guest ? this.guestToken : undefined);
    this.#changed.add('me');
    // Whoever is watched is told anew; what was known before may be hours old.
    this.#forgetPresences();
    this.#difference(welcome, welcome.resumed && again);
    if (!welcome.resumed) this.#page(welcome);
    this.position = welcome.position;
    this.lapse(now);
  }

  #page(first: { conversations_next?: string; contacts_next?: string }): void {
    this.main = paging(first.conversations_next);
    this.contactPages = paging(first.contacts_next);
  }

  /** `announce`: what was missed in a short absence is news; what was missed since yesterday is a badge. */
  #difference(
    from: { conversations: Conversation[]; messages: Message[]; contacts: Contact[] },
    announce: boolean,
  ): void {
    const fresh = from.messages.filter(one => one.from !== this.me?.user && !this.#has(one));
    const counted = new Set(from.conversations.map(one => one.conversation));
    for (const one of from.conversations) this.#upsert(one);
    for (const one of from.messages) this.#message(one, counted.has(one.conversation) ? 'counted' : 'missed');
    for (const one of from.conversations) this.#recount(one);
    for (const one of from.contacts) this.#contact(one);
    for (const one of announce ? fresh : []) this.#announce(one);
    this.#changed.add('conversations').add('archived').add('totals').add('contacts');
  }

  /** The record's counts are of before what was read here; now that the messages are there, count anew. */
  #recount(record: Conversation): void {
    const key = this.keysById.get(record.conversation);
    const known = key && this.conversations.get(key);
    if (known && known.read > record.read) this.#readUpTo(known, known.read);
  }

  #has(message: Message): boolean {
    const key = this.keysById.get(message.conversation);
    return key !== undefined && covers(this.known(key).stretches, message.seq);
  }

  #announce(message: Message): void {
    const key = this.keysById.get(message.conversation);
    if (key === undefined || message.seq <= this.known(key).read) return;
    this.#happened.push(['message', { key, message: received(message), first: false }]);
  }

  /** `counted`: the conversation's own record has its unread count already. */
  #message(message: Message, how: 'live' | 'missed' | 'counted'): void {
    const known = this.#conversationOf(message);
    if (known === undefined || covers(known.stretches, message.seq)) {
      // The newest message came inside the conversation's record, and its queued twin is done all the same.
      if (known && message.from === this.me?.user) this.#unqueue(message.id);
      return;
    }
    known.stretches = cover(known.stretches, { from: message.seq, to: message.seq, messages: [message] });
    known.top = Math.max(known.top, message.seq);
    known.active = Math.max(known.active, message.time);
    known.archived = false;
    if (this.typing.get(known.key)?.delete(message.from)) this.#changed.add(`typing:${known.key}`);
    if (message.from === this.me?.user) {
      this.#unqueue(message.id);
      // Posting moves the sender's own markers.
      told(known, message.seq, message.seq);
      if (how !== 'counted') this.#readUpTo(known, message.seq);
    } else {
      known.theirReceived = Math.max(known.theirReceived, message.seq);
      known.theirRead = Math.max(known.theirRead, message.seq);
      if (how !== 'counted' && message.seq > known.read) {
        known.unread += 1;
        if (names(message.body, this.me?.user)) known.mentions += 1;
      }
    }
    this.#touch(known.key);
    if (how === 'live' && message.from !== this.me?.user) this.#announce(message);
  }

  #acknowledged({ id, conversation, seq, time }: Event & { t: 'ack' }): void {
    const queued = this.queue.find(one => one.id === id);
    const key = queued?.key ?? this.keysById.get(conversation);
    if (key === undefined) return this.#stale();
    const known = this.#adopt(key, conversation);
    known.top = Math.max(known.top, seq);
    if (queued && this.me) {
      const { body, replyTo } = queued;
      const message = {
        conversation,
        seq,
        from: this.me.user,
        id,
        body,
        time,
        ...(replyTo && { reply_to: replyTo }),
      };
      return this.#message(message, 'live');
    }
    this.#touch(key);
  }

  #refused(id: string, code: Code): void {
    // What makes sense to try again is tried again by the leader; the message stays in the queue.
    if ((COMES_BACK[code] ?? 'later') !== 'never') return;
    this.#setFailed(id, code);
  }

  #marker(event: Event & { t: 'marker' }): void {
    const key = this.keysById.get(event.conversation);
    const known = key && this.conversations.get(key);
    if (!known) return;
    if (event.user === this.me?.user) {
      known.received = Math.max(known.received, event.received);
      if (event.read > known.read) this.#readUpTo(known, event.read);
      if (event.unread !== undefined && event.read >= known.read) known.unread = event.unread;
      if (known.unread === 0) known.mentions = 0;
      told(known, event.received, event.read);
    } else {
      known.theirReceived = Math.max(known.theirReceived, event.received, event.read);
      known.theirRead = Math.max(known.theirRead, event.read);
    }
    this.#touch(known.key);
  }

  #typingEvent(event: Event & { t: 'typing' }, now: number): void {
    const key = this.keysById.get(event.conversation) ?? direct(event.user);
    if (event.user === this.me?.user) return;
    const writers = this.typing.get(key) ?? new Map<string, number>();
    if (event.on) writers.set(event.user, now + TYPING_LAPSES_MS);
    else writers.delete(event.user);
    if (writers.size > 0) this.typing.set(key, writers);
    else this.typing.delete(key);
    this.#changed.add(`typing:${key}`);
  }

  #history(event: Event & { t: 'history' }, request: { to: SendTo; before?: number; after?: number }): void {
    const key = 'user' in request.to ? direct(request.to.user) : this.keysById.get(request.to.conversation);
    if (key === undefined) return;
    const messages = [...event.messages].sort((a, b) => a.seq - b.seq);
    if (event.conversation === '' || (messages.length === 0 && !this.conversations.has(key))) return;
    const known = this.#adopt(key, event.conversation);
    const first = messages[0]?.seq;
    const last = messages.at(-1)?.seq;
    known.top = Math.max(known.top, last ?? 0);
    const from =
      request.after !== undefined ? request.after + 1 : event.more ? (first ?? request.before ?? 1) : 1;
    const to = request.before !== undefined ? request.before - 1 : (last ?? request.after ?? 0);
    known.stretches = cover(known.stretches, { from, to, messages });
    if (known.stretches.length > 0 && known.active === 0) known.active = messages.at(-1)?.time ?? 0;
    for (const one of messages) if (one.from === this.me?.user) this.#unqueue(one.id);
    this.#touch(key);
  }

  #contact(contact: Contact): void {
    this.#person(contact);
    const before = this.contacts.get(contact.user);
    if (contact.state === 'none') this.contacts.delete(contact.user);
    else this.contacts.set(contact.user, contact.state);
    if (before === 'contact' && contact.state !== 'contact') this.#parted(contact);
    this.#changed.add('contacts').add('totals').add(`person:${contact.user}`).add(`presence:${contact.user}`);
  }

  #person(person: Person): void {
    const { user, name, avatar, guest = false, presence } = person;
    const old = this.people.get(user);
    if (presence !== undefined && user !== this.me?.user)
      this.#setPresence(user, presence, this.#lastSeen(user));
    if (old && old.name === name && old.avatar === avatar && old.guest === guest) return;
    this.people.set(user, { user, name, guest, ...(avatar !== undefined && { avatar }) });
    if (user === this.me?.user) {
      this.me = this.people.get(user);
      this.#changed.add('me');
    }
    this.#changed.add(`person:${user}`).add(`conversation:${direct(user)}`);
    if (this.contacts.has(user)) this.#changed.add('contacts');
  }

  #setPresence(user: string, presence: Presence, lastSeen?: number): void {
    const old = this.presences.get(user);
    const at = presence === 'offline' ? lastSeen : undefined;
    if (old?.presence === presence && old.lastSeen === at) return;
    this.presences.set(user, { presence, ...(at !== undefined && { lastSeen: at }) });
    this.#changed.add(`presence:${user}`).add('presences');
  }

  /** Kept where a record says the presence alone. */
  #lastSeen(user: string): number | undefined {
    return this.presences.get(user)?.lastSeen;
  }

  /**
   * Who of the contacts is here, and so who is not. Where not all are named, what was told of the others since the first
   * time still holds.
   */
  #watching(event: Event & { t: 'watching' }): void {
    const here = new Set<string>();
    for (const presence of ['online', 'away', 'busy'] as const) {
      for (const user of event[presence] ?? []) {
        here.add(user);
        this.#setPresence(user, presence);
      }
    }
    const told = event.more ? 'some' : 'all';
    const first = told !== this.contactsTold;
    this.contactsTold = told;
    if (event.more && !first) return;
    for (const [user, state] of this.contacts) {
      if (state !== 'contact' || here.has(user)) continue;
      if (event.more) this.presences.delete(user);
      if (first) this.#changed.add(`presence:${user}`).add('presences');
      if (this.presences.has(user)) this.#setPresence(user, 'offline', this.#lastSeen(user));
    }
  }

  /** The server tells no more of somebody who was told of as a contact, or that they are not to be seen. */
  #parted({ user, state }: Contact): void {
    if (state === 'blocked') return this.#setPresence(user, 'offline');
    this.presences.delete(user);
    this.#changed.add(`presence:${user}`).add('presences');
  }

  #forgetPresences(): void {
    for (const user of this.presences.keys()) this.#changed.add(`presence:${user}`);
    if (this.contactsTold === 'all')
      for (const user of this.contacts.keys()) this.#changed.add(`presence:${user}`);
    this.presences.clear();
    this.contactsTold = 'no';
    this.#changed.add('presences');
  }

  #upsert(record: Conversation): void {
    this.#person(record.with);
    const key = this.keysById.get(record.conversation) ?? direct(record.with.user);
    const known = this.#adopt(key, record.conversation);
    known.with = record.with.user;
    known.received = Math.max(known.received, record.received);
    told(known, record.received, record.read);
    known.theirReceived = Math.max(known.theirReceived, record.their_received);
    known.theirRead = Math.max(known.theirRead, record.their_read);
    known.mutedUntil = record.muted_until;
    known.pinned = record.pinned;
    known.archived = record.archived;
    known.active = Math.max(known.active, record.active);
    if (record.last) {
      const { seq } = record.last;
      known.top = Math.max(known.top, seq);
      known.stretches = cover(known.stretches, { from: seq, to: seq, messages: [record.last] });
      if (record.last.from === this.me?.user) this.#unqueue(record.last.id);
    }
    // What was read here may be news to the server still; its counts are older then.
    if (record.read >= known.read) {
      known.read = record.read;
      known.unread = record.unread;
      known.mentions = record.mentions;
    } else {
      known.unread = Math.min(record.unread, Math.max(0, known.top - known.read));
      this.#readUpTo(known, known.read);
    }
    this.#touch(key);
    const mine = this.#orphans.filter(one => one.conversation === record.conversation);
    if (mine.length === 0) return;
    this.#orphans = this.#orphans.filter(one => one.conversation !== record.conversation);
    for (const one of mine) this.#message(one, 'counted');
  }

  // -- what the member does --

  #action(action: Action): void {
    switch (action.a) {
      case 'queue':
        return this.#enqueue(action);
      case 'retry':
        return this.#setFailed(action.id, undefined);
      case 'discard':
        return this.#unqueue(action.id);
      case 'draft':
        return this.#setDraft(action.key, action.text);
      case 'seen': {
        const known = this.conversations.get(action.key);
        if (!known || action.seq <= known.read) return;
        this.#readUpTo(known, Math.min(action.seq, known.top));
        return this.#touch(action.key);
      }
      case 'presence':
        this.presence = action.set;
        this.#changed.add('me');
        return;
      case 'typing':
        return;
    }
  }

  #enqueue({ id, key, body, replyTo, time }: Action & { a: 'queue' }): void {
    if (this.queue.some(one => one.id === id) || this.#hasOwn(key, id)) return;
    const code = this.#unsendable(body);
    this.queue = [
      ...this.queue,
      { id, key, body, time, ...(replyTo && { replyTo }), ...(code && { failed: code }) },
    ];
    const known = this.conversations.get(key);
    if (known) known.active = Math.max(known.active, time);
    this.#touch(key);
  }

  #unsendable(body: string): Code | undefined {
    if (this.queue.length >= MAX_QUEUED) return 'full';
    const limit = this.limits?.body_bytes ?? Number.POSITIVE_INFINITY;
    return body === '' || new TextEncoder().encode(body).length > limit ? 'bad_body' : undefined;
  }

  /** The leader may repeat an action that was done long ago. */
  #hasOwn(key: ConversationKey, id: string): boolean {
    const last = newest(this.known(key).stretches);
    return last?.messages.some(one => one.id === id && one.from === this.me?.user) ?? false;
  }

  #unqueue(id: string): void {
    const queued = this.queue.find(one => one.id === id);
    if (!queued) return;
    this.queue = this.queue.filter(one => one !== queued);
    this.#touch(queued.key);
  }

  #setFailed(id: string, code: Code | undefined): void {
    const queued = this.queue.find(one => one.id === id);
    if (!queued || queued.failed === code) return;
    const { failed: _, ...rest } = queued;
    this.queue = this.queue.map(one => (one === queued ? { ...rest, ...(code && { failed: code }) } : one));
    this.#touch(queued.key);
  }

  #setDraft(key: ConversationKey, text: string): void {
    const cut = text.slice(0, MAX_DRAFT_CHARS);
    if ((this.drafts.get(key) ?? '') === cut) return;
    if (cut === '') this.drafts.delete(key);
    else this.drafts.set(key, cut);
    this.#changed.add(`draft:${key}`).add(`conversation:${key}`);
  }

  #status(status: Status): void {
    const before = this.status;
    this.status = status;
    this.#changed.add('status');
    if ((before.state === 'online') === (status.state === 'online')) return;
    for (const user of [...this.presences.keys(), ...this.contacts.keys()])
      this.#changed.add(`presence:${user}`);
    this.#changed.add('presences');
    for (const key of this.typing.keys()) this.#changed.add(`typing:${key}`);
    this.typing.clear();
  }

  // -- keeping --

  #conversationOf(message: Message): Known | undefined {
    const key = this.keysById.get(message.conversation);
    if (key !== undefined) return this.conversations.get(key);
    this.#stale();
    if (message.from !== this.me?.user) return this.#adopt(direct(message.from), message.conversation);
    this.#orphans = [...this.#orphans, message].slice(-MAX_ORPHANS);
    return undefined;
  }

  #stale(): void {
    this.listIsStale = true;
  }

  #adopt(key: ConversationKey, id: string): Known {
    const known = this.conversations.get(key) ?? blank(key);
    if (known.id === id) return known;
    // Another id under the same key: the site was restored from elsewhere, and old numbers mean nothing now.
    const own = known.id === undefined ? known : blank(key);
    own.id = id;
    this.#keep(own);
    return own;
  }

  #keep(known: Known): void {
    this.conversations.set(known.key, known);
    if (known.id !== undefined) this.keysById.set(known.id, known.key);
    this.#touch(known.key);
  }

  #readUpTo(known: Known, seq: number): void {
    known.read = Math.max(known.read, seq);
    known.received = Math.max(known.received, known.read);
    if (known.read >= known.top) {
      known.unread = 0;
      known.mentions = 0;
      return;
    }
    const window = newest(known.stretches);
    if (!window || window.from > known.read + 1 || window.to < known.top) return;
    const left = window.messages.filter(one => one.seq > known.read && one.from !== this.me?.user);
    known.unread = left.length;
    known.mentions = left.filter(one => names(one.body, this.me?.user)).length;
  }

  #touch(key: ConversationKey): void {
    this.#changed
      .add(`conversation:${key}`)
      .add(`timeline:${key}`)
      .add('conversations')
      .add('archived')
      .add('totals');
  }

  /** Another member has signed in. */
  #forgetWritten(): void {
    this.queue = [];
    for (const key of [...this.drafts.keys()]) this.#setDraft(key, '');
    this.people.clear();
  }

  /** All that the server knows better. What the member wrote stays. */
  #forgetAll(): void {
    for (const key of this.conversations.keys()) this.#touch(key);
    this.#forgetPresences();
    for (const key of this.typing.keys()) this.#changed.add(`typing:${key}`);
    for (const key of this.drafts.keys()) this.#changed.add(`draft:${key}`);
    this.conversations.clear();
    this.keysById.clear();
    this.contacts.clear();
    this.typing.clear();
    this.#orphans = [];
    this.listIsStale = false;
    this.main = FIRST_PAGE;
    this.archived = FIRST_PAGE;
    this.contactPages = FIRST_PAGE;
    this.#changed.add('contacts').add('totals').add('conversations').add('archived');
  }
}

function told(known: Known, received: number, read: number): void {
  known.toldRead = Math.max(known.toldRead, read);
  known.toldReceived = Math.max(known.toldReceived, received, read);
}

function blank(key: ConversationKey): Known {
  return {
    key,
    with: key.slice(1),
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

function paging(next: string | undefined): Paging {
  return next === undefined ? { more: false } : { more: true, next };
}

function received(message: Message): SeenMessage {
  const { id, seq, from, body, time, reply_to } = message;
  return {
    id,
    seq,
    from,
    mine: false,
    body,
    time,
    state: 'received',
    ...(reply_to && { replyTo: reply_to }),
  };
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
