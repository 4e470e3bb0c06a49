// A client without a server: for looking at the interface and for tests of its components.

import {
  type Client,
  type Contact,
  type ContactState,
  type Conversation,
  type ConversationKey,
  type ConversationList,
  direct,
  type Happenings,
  type KnownPerson,
  type Me,
  type Message,
  type Person,
  type Presence,
  type Status,
  type Timeline,
  type Topic,
  type Totals,
} from '@kith/client';

export interface FakeOptions {
  people?: number;
  chats?: number;
  open?: boolean;
  requests?: number;
  now: number;
}

const FIRST = [
  'Ana',
  'Tom',
  'Léa',
  'Kwame',
  'Mei',
  'Jonas',
  'Zara',
  'Pedro',
  'Ingrid',
  'Yusuf',
  'Nora',
  'Ravi',
  'Sofía',
  'Emil',
  'Amara',
  'Hugo',
  'Lina',
  'Otto',
  'Priya',
  'Marek',
];
const LAST = [
  'Silva',
  'Becker',
  'Moreau',
  'Mensah',
  'Lin',
  'Weber',
  'Haddad',
  'Costa',
  'Berg',
  'Kaya',
  'Olsen',
  'Shah',
  'Ruiz',
  'Novak',
  'Okafor',
  'Laurent',
  'Keller',
  'Fuchs',
  'Nair',
  'Kowalski',
];
const TALK = [
  'Hey! Are you coming to the ride on Sunday?',
  'Yes, if the weather holds. I just put new tyres on.',
  'The forecast says sun from ten on.',
  'Perfect. Same place as last time?',
  'The café at the old bridge, 9:30. Kim brings the map: https://maps.example/route/314 (42 km, not too steep).',
  'Sounds good 👍',
  'I can lend you the small pump if you need one. Mine has both valves, and there is a spare tube in the bag as well.',
  'That would be great, mine gave up last week.',
  'Done. See you there!',
  'One more thing: can you bring the camera?',
];
const PRESENCES: Presence[] = [
  'online',
  'offline',
  'away',
  'offline',
  'online',
  'busy',
  'offline',
  'offline',
];
const MINUTE = 60_000;

/** Pictures the state that a test or the page wants; `change` redraws a topic. */
export class FakeClient implements Client {
  readonly calls: string[] = [];
  state: Status = { state: 'online', transport: 'websocket', shared: false };
  myself: Me;
  readonly persons = new Map<string, KnownPerson>();
  readonly presences = new Map<string, { presence: Presence; lastSeen?: number }>();
  readonly states = new Map<string, ContactState>();
  readonly chats = new Map<ConversationKey, Conversation>();
  readonly timelines = new Map<ConversationKey, Timeline>();
  readonly typers = new Map<ConversationKey, readonly string[]>();
  readonly drafts = new Map<ConversationKey, string>();
  watched: readonly string[] = [];
  watchesContacts = false;
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly handlers = new Map<string, Set<(detail: never) => void>>();
  private readonly cache = new Map<string, unknown>();
  private serial = 0;
  private readonly now: number;

  constructor({ people = 40, chats = 12, open = true, requests = 2, now }: FakeOptions) {
    this.now = now;
    this.myself = {
      user: 'me',
      name: 'Kim Larsen',
      guest: false,
      presence: 'online',
      open,
      limits: {
        body_bytes: 4_000,
        frame_bytes: 65_536,
        page: 100,
        watch: 200,
        idle_ms: 60_000,
        heartbeat_ms: 10_000,
      },
    };
    for (let i = 0; i < people; i++)
      this.addPerson(i, i < requests ? 'request_received' : i % 5 === 4 ? 'none' : 'contact');
    for (let i = 0; i < Math.min(chats, people - requests); i++) this.addChat(i + requests, i);
  }

  private addPerson(i: number, state: ContactState) {
    const user = `u${i}`;
    const name = `${FIRST[i % FIRST.length]} ${LAST[(i * 7 + Math.floor(i / FIRST.length)) % LAST.length]}`;
    this.persons.set(user, { user, name, guest: false });
    const presence = PRESENCES[i % PRESENCES.length] ?? 'offline';
    this.presences.set(
      user,
      presence === 'offline' ? { presence, lastSeen: this.now - i * 17 * MINUTE } : { presence },
    );
    this.states.set(user, state);
  }

  private addChat(person: number, rank: number) {
    const user = `u${person}`;
    const key = direct(user);
    const length = rank === 0 ? 10 : rank === 1 ? 600 : 4 + (rank % 6);
    const last = this.now - rank * rank * 23 * MINUTE;
    const unread = rank === 1 ? 3 : rank === 3 ? 1 : rank === 6 ? 120 : 0;
    const messages = Array.from({ length }, (_, i): Message => {
      const mine = (i + rank) % 3 === 1 && i < length - unread;
      const gap = (length - 1 - i) * (i < length - 6 ? 47 : 2) * MINUTE;
      return {
        id: `${user}-${i + 1}`,
        seq: i + 1,
        from: mine ? 'me' : user,
        mine,
        body: TALK[(i + rank) % TALK.length] ?? '',
        time: last - gap,
        state: mine ? (i < length - 2 ? 'read' : 'received') : 'received',
        ...(i === 5 ? { replyTo: 5 } : {}),
      };
    });
    this.timelines.set(key, {
      messages,
      more: false,
      loading: 'no',
      ...(unread > 0 ? { unreadFrom: length - unread + 1 } : {}),
    });
    const newest = messages.at(-1);
    this.chats.set(key, {
      key,
      exists: true,
      with: this.person(user),
      ...(newest ? { last: newest } : {}),
      unread,
      mentions: rank === 3 ? 1 : 0,
      mutedUntil: rank === 6 ? this.now + 60 * MINUTE : 0,
      pinned: rank === 1,
      archived: false,
      active: last,
      draft: '',
    });
  }

  /** Something changed: what was handed out is forgotten, listeners are called. */
  change(topic: Topic) {
    this.cache.clear();
    for (const listener of Array.from(this.listeners.get(topic) ?? [])) listener();
  }

  /** Somebody writes. */
  arrive(user: string, body: string) {
    const key = direct(user);
    const before = this.timeline(key);
    const seq = before.messages.length + 1;
    const message: Message = {
      id: `in-${++this.serial}`,
      seq,
      from: user,
      mine: false,
      body,
      time: this.now,
      state: 'received',
    };
    this.timelines.set(key, { ...before, messages: [...before.messages, message] });
    const chat = this.conversation(key);
    this.chats.set(key, { ...chat, exists: true, last: message, unread: chat.unread + 1, active: this.now });
    this.change(`timeline:${key}`);
    this.change(`conversation:${key}`);
    this.change('conversations');
    this.change('totals');
    this.happen('message', { key, message, first: true });
  }

  happen<K extends keyof Happenings>(name: K, detail: Happenings[K]) {
    for (const handler of Array.from(this.handlers.get(name) ?? [])) handler(detail as never);
  }

  status = () => this.state;
  me = () => this.myself;
  totals = () =>
    this.kept('totals', (): Totals => {
      const chats = Array.from(this.chats.values()).filter(chat => chat.unread > 0 && chat.mutedUntil === 0);
      return {
        unread: chats.reduce((sum, chat) => sum + chat.unread, 0),
        mentions: chats.reduce((sum, chat) => sum + chat.mentions, 0),
        conversations: chats.length,
        requests: Array.from(this.states.values()).filter(state => state === 'request_received').length,
      };
    });
  conversations = (list: 'main' | 'archived' = 'main') =>
    this.kept(`conversations ${list}`, (): ConversationList => {
      const chats = Array.from(this.chats.values()).filter(chat => chat.archived === (list === 'archived'));
      chats.sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.active - a.active);
      return { keys: chats.map(chat => chat.key), more: false, loading: false };
    });
  conversation = (key: ConversationKey) =>
    this.chats.get(key) ??
    this.kept(`conversation ${key}`, (): Conversation => {
      const person = this.person(key.slice(1));
      return {
        key,
        exists: false,
        with: person,
        unread: 0,
        mentions: 0,
        mutedUntil: 0,
        pinned: false,
        archived: false,
        active: 0,
        draft: '',
      };
    });
  timeline = (key: ConversationKey) =>
    this.timelines.get(key) ??
    this.kept(`timeline ${key}`, (): Timeline => ({ messages: [], more: false, loading: 'no' }));
  contacts = () =>
    this.kept('contacts', () => {
      const contacts: Contact[] = [];
      for (const [user, state] of this.states)
        if (state !== 'none') contacts.push({ ...this.person(user), state });
      contacts.sort((a, b) => a.name.localeCompare(b.name));
      return { contacts, more: false, loading: false };
    });
  contact = (user: string) => this.states.get(user) ?? 'none';
  person = (user: string) =>
    this.persons.get(user) ?? this.kept(`person ${user}`, () => ({ user, name: user, guest: false }));
  presence = (user: string) => {
    if (this.state.state !== 'online') return UNKNOWN;
    return this.presences.get(user) ?? UNKNOWN;
  };
  typing = (key: ConversationKey) => this.typers.get(key) ?? NOBODY;
  draft = (key: ConversationKey) => this.drafts.get(key) ?? '';

  subscribe(topic: Topic, listener: () => void) {
    const set = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, set.add(listener));
    return () => void set.delete(listener);
  }
  on<K extends keyof Happenings>(name: K, listener: (detail: Happenings[K]) => void) {
    const set = this.handlers.get(name) ?? new Set();
    this.handlers.set(name, set.add(listener as (detail: never) => void));
    return () => void set.delete(listener as (detail: never) => void);
  }

  connect = () => this.note('connect');
  stop = () => this.note('stop');
  setToken = () => this.note('setToken');
  forget = () => this.note('forget');
  destroy = () => this.note('destroy');
  open(key: ConversationKey) {
    this.note(`open ${key}`);
    return () => this.note(`leave ${key}`);
  }
  loadOlder = (key: ConversationKey) => this.note(`loadOlder ${key}`);
  seen(key: ConversationKey, seq: number) {
    this.note(`seen ${key} ${seq}`);
    const chat = this.chats.get(key);
    if (chat === undefined || chat.unread === 0 || (chat.last?.seq ?? 0) > seq) return;
    this.chats.set(key, { ...chat, unread: 0, mentions: 0 });
    this.change(`conversation:${key}`);
    this.change('totals');
  }
  send(key: ConversationKey, body: string, replyTo?: number) {
    const id = `out-${++this.serial}`;
    this.note(`send ${key} ${body}`);
    const before = this.timeline(key);
    const message: Message = {
      id,
      from: 'me',
      mine: true,
      body: body.trimEnd(),
      time: this.now,
      state: 'sending',
      ...(replyTo === undefined ? {} : { replyTo }),
    };
    this.timelines.set(key, { ...before, messages: [...before.messages, message] });
    this.change(`timeline:${key}`);
    return id;
  }
  retry = (id: string) => this.note(`retry ${id}`);
  discard = (id: string) => this.note(`discard ${id}`);
  setDraft(key: ConversationKey, text: string) {
    this.drafts.set(key, text);
    this.change(`draft:${key}`);
  }
  setTyping = () => undefined;
  setPresence(presence: Me['presence']) {
    this.myself = { ...this.myself, presence };
    this.change('me');
  }
  watch(users: readonly string[]) {
    this.watched = users;
    return () => undefined;
  }
  watchContacts() {
    this.watchesContacts = true;
    return () => {
      this.watchesContacts = false;
    };
  }
  changeContact(action: string, user: string) {
    this.note(`${action} ${user}`);
    const next: ContactState =
      action === 'accept'
        ? 'contact'
        : action === 'request'
          ? 'request_sent'
          : action === 'block'
            ? 'blocked'
            : 'none';
    this.states.set(user, next);
    this.change('contacts');
    this.change('totals');
    this.change(`person:${user}`);
    return Promise.resolve({ ...this.person(user), state: next });
  }
  changeConversation(key: ConversationKey, change: object) {
    this.note(`change ${key} ${JSON.stringify(change)}`);
    this.chats.set(key, { ...this.conversation(key), ...change });
    this.change(`conversation:${key}`);
    this.change('conversations');
    this.change('archived');
    return Promise.resolve();
  }
  loadContacts = () => undefined;
  loadConversations = () => undefined;
  people(query?: string): Promise<{ people: Person[]; next?: string }> {
    const wanted = query?.toLowerCase() ?? '';
    const people = Array.from(this.persons.values()).filter(person =>
      person.name.toLowerCase().includes(wanted),
    );
    return Promise.resolve({ people: people.slice(0, 500) });
  }

  private note(call: string) {
    this.calls.push(call);
  }

  private kept<T>(key: string, make: () => T): T {
    if (!this.cache.has(key)) this.cache.set(key, make());
    return this.cache.get(key) as T;
  }
}

const UNKNOWN = { presence: 'unknown' } as const;
const NOBODY: readonly string[] = [];
