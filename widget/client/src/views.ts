// The replica as values to draw. A value is built when it is read, and stays the same object until its topic changes.

import type { Pending, Queued } from './change.ts';
import {
  type ContactList,
  type Conversation,
  type ConversationKey,
  type ConversationList,
  isRoom,
  type KnownPerson,
  type ListedContact,
  type ListName,
  type Me,
  type Message,
  type PagedList,
  type PresenceView,
  pagesOf,
  type RoomView,
  type Timeline,
  type Topic,
  type Totals,
  topicOf,
} from './client.ts';
import { type ConversationState, isOwn, listOf } from './conversation_state.ts';
import { around, type MessageRange, newest } from './message_range.ts';
import { roomView, seenOf } from './message_view.ts';
import { foreseen } from './pending_changes.ts';
import { sameFace, UNKNOWN } from './people.ts';
import type { Replica } from './replica.ts';
import type { Code, Room, Message as WireMessage } from './wire.ts';

export type ListState = 'loading' | 'loaded' | 'failed';

export type Loading = 'no' | 'newest' | 'older' | 'newer' | 'gap';

/** State of a conversation that only this tab has, because the tab shows it. */
export interface OnScreen {
  count: number;
  loading: Loading;
  /** Pending requests for pages, by their range. */
  underWay: Map<string, Promise<boolean>>;
  /** The range of the last page that brought nothing new. */
  emptyRange?: string;
  failed?: Code;
  unreadFrom?: number;
  /** The number of unread messages when the line was placed. */
  unreadCount?: number;
  /** Page requests since the last action of the reader or the last reconnect. `fill` stops at a bound. */
  tries: number;
  /** The last request found no messages. */
  bare?: boolean;
  /** The screen shows the stretch with this seq, if it is not the newest one. */
  around?: number;
}

export class Views {
  readonly screens = new Map<ConversationKey, OnScreen>();
  /** The state of each list's last requested page. */
  readonly listStates = new Map<PagedList | 'contacts', ListState>();

  #cache = new Map<Topic, unknown>();
  #byName: readonly ListedContact[] = [];
  #contactViews = new Map<string, ListedContact>();
  #lists: Partial<Record<ListName, ConversationList>> = {};
  #messages = new WeakMap<WireMessage | Queued, Message>();
  /** The pending changes of a message when its view was made. */
  #pendingOn = new WeakMap<WireMessage, readonly Pending[]>();
  #faces = new WeakMap<Room, KnownPerson>();
  #listeners = new Map<Topic, Set<() => void>>();

  constructor(
    private readonly replica: Replica,
    private readonly compare: (a: string, b: string) => number,
    private readonly now: () => number,
    private readonly pageNames: Readonly<Record<string, string>> = {},
    private readonly server = '',
  ) {}

  subscribe(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // Each subscription has its own wrapper, so that the same function may subscribe twice.
    const entry = () => listener();
    listeners.add(entry);
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  /** Drops the built values of these topics. */
  invalidate(topics: Iterable<Topic>): void {
    for (const topic of topics) this.#cache.delete(topic);
  }

  /** Calls the listeners of these topics, also after one has thrown. */
  notify(topics: Iterable<Topic>): void {
    for (const topic of topics) {
      for (const listener of [...(this.#listeners.get(topic) ?? [])]) {
        try {
          listener();
        } catch (error) {
          console.error(error);
        }
      }
    }
  }

  forgetListeners(): void {
    this.#listeners.clear();
  }

  me(): Me | undefined {
    return this.#built('me', () => {
      const { me, limits, presence, open, role, calls, site } = this.replica;
      const more = { ...(role && { role }), ...(site && { site }) };
      return me && limits && { ...me, presence, open, calls, limits, ...more };
    });
  }

  totals(): Totals {
    return this.#built('totals', () => {
      const totals = { unread: 0, mentions: 0, conversations: 0, requests: 0, strangers: 0 };
      const now = this.now();
      for (const one of this.replica.conversations.byKey.values()) {
        if (!isOwn(one)) continue;
        if (one.request === 'received') {
          if (!one.archived) totals.strangers += 1;
          continue;
        }
        totals.mentions += one.mentions;
        if ((one.unread === 0 && !one.markedUnread) || one.archived || one.mutedUntil > now) continue;
        totals.unread += one.unread;
        totals.conversations += 1;
      }
      for (const state of this.replica.people.contacts.values())
        if (state === 'request_received') totals.requests += 1;
      return totals;
    });
  }

  conversations(list: ListName): ConversationList {
    return this.#built(topicOf(list), () => {
      const queuedOnly =
        list === 'main' ? this.replica.written.queue.map(one => this.replica.known(one.key)) : [];
      const known = new Map(
        [...queuedOnly, ...this.replica.conversations.byKey.values()].map(one => [one.key, one]),
      );
      const keys = [...known.values()]
        .filter(one => isOwn(one) && isIn(one, list))
        .sort((a, b) => Number(b.pinned) - Number(a.pinned) || active(b) - active(a))
        .map(one => one.key);
      const { more } = this.replica.conversations.pages[pagesOf(list)];
      const state = this.listStates.get(pagesOf(list));
      const loading = state === 'loading';
      const failed = more && state === 'failed';
      // Most changes keep the order. Returning the same object then saves a render of the list.
      const before = this.#lists[list];
      if (
        before?.more === more &&
        before.loading === loading &&
        before.failed === failed &&
        sameKeys(before.keys, keys)
      )
        return before;
      this.#lists[list] = { keys, more, loading, failed };
      return this.#lists[list];
    });
    function active(one: ConversationState): number {
      return one.active > 0 ? one.active : Number.MAX_SAFE_INTEGER;
    }
  }

  conversation(key: ConversationKey): Conversation {
    return this.#built(`conversation:${key}`, () => {
      const known = this.replica.known(key);
      const last = this.#lastOf(known);
      return {
        key: this.replica.conversations.keyNow(key),
        exists: known.id !== undefined,
        with: isRoom(key) ? this.#faceOf(key) : this.person(known.with),
        ...this.#roomOf(key),
        ...(last && { last }),
        unread: known.unread,
        readUpTo: known.read,
        mentions: known.mentions,
        mutedUntil: known.mutedUntil,
        pinned: known.pinned,
        archived: known.archived,
        ...(known.request && { request: known.request }),
        ...(known.requestedBy !== undefined && { requestedBy: known.requestedBy }),
        markedUnread: known.markedUnread ?? false,
        active: known.active || (last?.time ?? 0),
        draft: this.draft(key),
      };
    });
  }

  timeline(key: ConversationKey): Timeline {
    return this.#built(`timeline:${key}`, () => {
      const known = this.replica.known(key);
      const screen = this.screens.get(key);
      const window = shown(known, screen);
      const later = window !== newest(known.stretches);
      return {
        messages: this.#messagesOf(known, window, later),
        ...(later && { later }),
        more: window ? window.from > 1 : known.id !== undefined && !screen?.bare,
        loading: screen?.loading ?? 'no',
        ...(screen?.failed && { failed: screen.failed }),
        ...(screen?.unreadFrom !== undefined && {
          unreadFrom: screen.unreadFrom,
          unreadCount: screen.unreadCount ?? 0,
        }),
      };
    });
  }

  face(key: ConversationKey, room: Room): KnownPerson {
    const old = this.#faces.get(room);
    if (old) return old;
    const avatar = room.picture ? this.server + room.picture : room.avatar;
    const face = {
      user: key,
      name: this.#pageName(key) ?? room.name,
      guest: false,
      ...(avatar && { avatar }),
    };
    this.#faces.set(room, face);
    return face;
  }

  #wireRoom(key: ConversationKey): Room | undefined {
    return this.replica.known(key).room ?? this.replica.conversations.listed.get(key);
  }

  #faceOf(key: ConversationKey): KnownPerson {
    const room = this.#wireRoom(key);
    const name = this.#pageName(key) ?? key.slice(1);
    return room ? this.face(key, room) : { user: key, name, guest: false };
  }

  /** The server knows only the path of a page. The page itself brings its name. */
  #pageName(key: ConversationKey): string | undefined {
    const page = key.slice(1);
    return key[0] === '~' && Object.hasOwn(this.pageNames, page) ? this.pageNames[page] : undefined;
  }

  #roomOf(key: ConversationKey): { room?: RoomView } {
    const room = isRoom(key) ? this.#wireRoom(key) : undefined;
    return room ? { room: roomView(room) } : {};
  }

  contacts(): ContactList {
    return this.#built('contacts', () => {
      this.#byName = this.#sortedContacts();
      const { more } = this.replica.people.contactPages;
      const state = this.listStates.get('contacts');
      return {
        contacts: this.#byName,
        more,
        loading: state === 'loading',
        failed: more && state === 'failed',
      };
    });
  }

  person(user: string): KnownPerson {
    return (
      this.replica.people.byUser.get(user) ??
      this.#built(`person:${user}`, () => ({ user, name: user, guest: false }))
    );
  }

  presence(user: string): PresenceView {
    if (this.replica.status.state !== 'online') return UNKNOWN;
    return this.replica.people.presenceOf(user);
  }

  typing(key: ConversationKey): readonly string[] {
    return this.#built(`typing:${key}`, () => this.replica.typing.in(key));
  }

  draft(key: ConversationKey): string {
    return this.replica.written.drafts.get(key) ?? '';
  }

  /** Sorts thousands of contacts quickly: unchanged contacts keep their order, and changed ones are placed anew. */
  #sortedContacts(): readonly ListedContact[] {
    const added: ListedContact[] = [];
    for (const [user, state] of this.replica.people.contacts) {
      const old = this.#contactViews.get(user);
      const person = this.person(user);
      if (old?.state === state && sameFace(old, person)) continue;
      const view = { ...person, state };
      this.#contactViews.set(user, view);
      added.push(view);
    }
    if (this.#contactViews.size > this.replica.people.contacts.size) {
      for (const user of this.#contactViews.keys()) {
        if (!this.replica.people.contacts.has(user)) this.#contactViews.delete(user);
      }
    }
    const kept = this.#byName.filter(one => this.#contactViews.get(one.user) === one);
    if (added.length === 0) return kept.length === this.#byName.length ? this.#byName : kept;
    return merged(kept, added, (a, b) => this.compare(a.name, b.name));
  }

  #lastOf(known: ConversationState): Message | undefined {
    const queued = this.replica.written.queue.findLast(one => one.key === known.key);
    if (queued) return this.#queued(queued);
    const stored = newest(known.stretches)?.messages.at(-1);
    return stored && this.#stored(stored, known);
  }

  #messagesOf(
    known: ConversationState,
    window: MessageRange | undefined,
    later: boolean,
  ): readonly Message[] {
    const stored = window?.messages ?? [];
    const queued = later ? [] : this.replica.written.queue.filter(one => one.key === known.key);
    const all = [...stored.map(one => this.#stored(one, known)), ...queued.map(one => this.#queued(one))];
    // Held messages have no seq, so they are ordered by time.
    return queued.some(one => one.held) ? all.sort((a, b) => a.time - b.time) : all;
  }

  #stored(stored: WireMessage, known: ConversationState): Message {
    const me = this.replica.me?.user;
    const mine = stored.from === me;
    const pending = this.replica.pending.of(known.key, stored.seq);
    const before = this.#pendingOn.get(stored) ?? [];
    if (pending.length !== before.length || pending.some((one, at) => one !== before[at])) {
      this.#messages.delete(stored);
      this.#pendingOn.set(stored, pending);
    }
    const delivered = !mine || known.theirReceived >= stored.seq ? 'received' : 'sent';
    const state = mine && known.theirRead >= stored.seq ? 'read' : delivered;
    // Return early with the cached view: each change of a conversation reads thousands of messages.
    const view = this.#messages.get(stored);
    if (view?.state === state && view.mine === mine) return view;
    const message = pending.length > 0 && me !== undefined ? foreseen(stored, pending, me) : stored;
    return this.#same(stored, {
      id: message.id,
      seq: message.seq,
      from: message.from,
      mine,
      body: message.body,
      time: message.time,
      ...seenOf(message),
      ...(pending.length > 0 && { changing: true }),
      state,
    });
  }

  #queued(queued: Queued): Message {
    return this.#same(queued, {
      id: queued.id,
      from: this.replica.me?.user ?? '',
      mine: true,
      body: queued.body,
      ...(queued.opaque && { opaque: true }),
      time: queued.time,
      ...(queued.replyTo !== undefined && { replyTo: queued.replyTo }),
      ...(queued.files && { files: queued.files }),
      ...(queued.bears && seenOf(queued.bears.shows)),
      state: queued.failed ? 'failed' : queued.held ? (queued.held === 'kept' ? 'sent' : 'held') : 'sending',
      ...(queued.failed && { code: queued.failed }),
      ...(queued.why && { why: queued.why }),
    });
  }

  /** Returns the previous object if the message has not changed. */
  #same(source: WireMessage | Queued, view: Message): Message {
    const old = this.#messages.get(source);
    if (old && old.state === view.state && old.mine === view.mine && old.from === view.from) return old;
    this.#messages.set(source, view);
    return view;
  }

  #built<T>(topic: Topic, build: () => T): T {
    if (!this.#cache.has(topic)) this.#cache.set(topic, build());
    return this.#cache.get(topic) as T;
  }
}

/** The stretch that the screen shows. */
export function shown(known: ConversationState, screen: OnScreen | undefined): MessageRange | undefined {
  const wanted = screen?.around === undefined ? undefined : around(known.stretches, screen.around);
  return wanted ?? newest(known.stretches);
}

function isIn(one: ConversationState, list: ListName): boolean {
  if (list !== 'unread' && list !== 'mentions') return listOf(one) === list;
  if (listOf(one) !== 'main') return false;
  return list === 'mentions' ? one.mentions > 0 : one.unread > 0 || one.markedUnread === true;
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, at) => key === b[at]);
}

/** Merges `others` into `sorted`. A binary search places each one, so elements of `sorted` are not sorted again. */
function merged<T>(sorted: readonly T[], others: T[], compare: (a: T, b: T) => number): T[] {
  const result: T[] = [];
  let taken = 0;
  for (const one of others.sort(compare)) {
    let low = taken;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(sorted[middle] as T, one) <= 0) low = middle + 1;
      else high = middle;
    }
    for (; taken < low; taken++) result.push(sorted[taken] as T);
    result.push(one);
  }
  for (; taken < sorted.length; taken++) result.push(sorted[taken] as T);
  return result;
}
