// A client without a server, for the preview page and for tests of components.

import {
  type Answer,
  type AppPassword,
  type CallAction,
  type CallEvent,
  type Client,
  type ClientEvents,
  type Code,
  type Contact,
  type ContactState,
  type Conversation,
  type ConversationKey,
  type ConversationList,
  type Device,
  direct,
  type Event,
  type Invitations,
  type Invited,
  isRoom,
  type KnownPerson,
  type Link,
  type ListedRoom,
  type ListName,
  type Me,
  type Member,
  type MemberAction,
  type MemberTerms,
  type Message,
  type MessageExtras,
  type ModerationAction,
  type Notice,
  type NotificationSettings,
  type NotificationsChange,
  type OwnProfile,
  type Person,
  type Presence,
  type Profile,
  type Report,
  type ReportReason,
  type ReportTarget,
  type RequestAnswer,
  RequestError,
  type Rich,
  type RoomChange,
  type RoomKind,
  type RoomView,
  room,
  type SentFile,
  type SiteSettings,
  type Status,
  type Sticker,
  type ThreadView,
  type Timeline,
  type Topic,
  type Totals,
  topicOf,
  type Unnumbered,
} from '@kith/client';

const LOADED = { more: false, loading: false, failed: false };
const MISSING = { more: true, loading: false, failed: true };

export interface FakeOptions {
  people?: number;
  chats?: number;
  open?: boolean;
  requests?: number;
  rooms?: number;
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

const ROOMS: readonly [name: string, kind: RoomKind, topic: string][] = [
  ['Bikers', 'public', 'Rides around the lake, every Sunday at ten'],
  ['Committee', 'private', 'The five of us'],
  ['News of the club', 'announcement', 'What everybody should know'],
  ['Repair corner', 'public', 'Chains, tubes and other troubles'],
  ['Flea market', 'public', 'Buy, sell, give away'],
  ['Photos', 'public', ''],
];

function roomOf(i: number): RoomView {
  const [name, kind, topic] = ROOMS[i % ROOMS.length] ?? ['', 'public', ''];
  return {
    name: i < ROOMS.length ? name : `${name} ${i}`,
    kind,
    role: i === 0 ? 'moderator' : 'member',
    members: 1_240 - i * 97,
    ...(topic && { topic }),
    slowMs: 0,
    frozen: false,
    maxMembers: 0,
  };
}

/** Holds the state that a test or the preview page sets; `change` notifies the listeners of a topic. */
export class FakeClient implements Client {
  readonly server = '';
  readonly calls: string[] = [];
  state: Status = { state: 'online', transport: 'websocket', shared: false };
  myself: Me;
  said: { status?: string; status_until?: number | undefined } = {};
  stickers: Sticker[] = [];
  devices: Device[] = [
    { device: '1', browser: 'Firefox', system: 'Linux', created: 0, used: 0, here: true, this: true },
    { device: '2', browser: 'Safari', system: 'iPhone', created: 0, used: 0 },
  ];
  address: string | undefined = 'me@garden.example';
  passwords: AppPassword[] = [
    { number: 2, name: 'Dino', created: 0, used: 0, here: true },
    { number: 1, name: 'Old phone', created: 0 },
  ];
  readonly own: OwnProfile = {
    may_write: 'everybody',
    see_presence: 'everybody',
    see_last_seen: 'everybody',
    may_rename: true,
    may_remove: true,
    devices: true,
    apps: true,
  };
  readonly persons = new Map<string, KnownPerson>();
  readonly presences = new Map<string, { presence: Presence; lastSeen?: number }>();
  readonly states = new Map<string, ContactState>();
  readonly chats = new Map<ConversationKey, Conversation>();
  readonly timelines = new Map<ConversationKey, Timeline>();
  readonly typers = new Map<ConversationKey, readonly string[]>();
  readonly drafts = new Map<ConversationKey, string>();
  readonly moved = new Map<ConversationKey, ConversationKey>();
  readonly listed = new Map<ConversationKey, ListedRoom>();
  readonly notifying: NotificationSettings = { key: 'BKey', devices: 0, bodies: true };
  watched: readonly string[] = [];
  watchesContacts = false;
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly handlers = new Map<string, Set<(detail: never) => void>>();
  private readonly cache = new Map<string, unknown>();
  private serial = 0;
  private readonly now: number;

  constructor({ people = 40, chats = 12, open = true, requests = 2, rooms = 0, now }: FakeOptions) {
    this.now = now;
    this.myself = {
      user: 'me',
      name: 'Kim Larsen',
      guest: false,
      presence: 'online',
      open,
      calls: 'contacts',
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
    for (let i = 0; i < rooms; i++) this.addRoom(room(`r${i}`), roomOf(i), i);
  }

  /** The member is in the first three rooms. The directory lists all rooms that are not private. */
  private addRoom(key: ConversationKey, view: RoomView, i: number) {
    const face = { user: key, name: view.name, guest: false };
    const { role: _, ...strange } = view;
    const own = i < 3;
    const users = ['u3', 'u5', 'u3', 'u7', 'me', 'u4'];
    const messages = own
      ? Array.from({ length: 14 }, (_, at): Message => {
          const from = users[at % users.length] ?? 'u3';
          return {
            id: `${key}-${at + 1}`,
            seq: at + 1,
            from,
            mine: from === 'me',
            body:
              at === 12 ? 'Great photo, @me! **Thanks** for the _tip_ 🙌' : (TALK[at % TALK.length] ?? ''),
            time: this.now - (14 - at) * 3 * MINUTE - i * 50 * MINUTE,
            state: from === 'me' ? 'sent' : 'received',
            ...(at === 7 && { replyTo: 3 }),
            ...(at === 9 && { edited: this.now - 20 * MINUTE }),
            ...(at === 10 && { body: '', deleted: true as const }),
            ...(at === 8 && {
              reactions: [
                { reaction: '👍', count: 3, users: ['u3', 'u5', 'me'], mine: true },
                { reaction: '🎉', count: 1, users: ['u7'], mine: false },
              ],
            }),
          };
        })
      : [];
    const last = messages.at(-1);
    this.timelines.set(key, { messages, more: false, loading: 'no' });
    this.chats.set(key, {
      key,
      exists: true,
      with: face,
      room: own ? view : strange,
      ...(last && { last }),
      unread: i === 1 ? 4 : 0,
      readUpTo: messages.length - (i === 1 ? 4 : 0),
      mentions: i === 1 ? 1 : 0,
      mutedUntil: 0,
      pinned: false,
      archived: false,
      markedUnread: false,
      active: last?.time ?? 0,
      draft: '',
    });
    if (view.kind !== 'private') this.listed.set(key, { key, face, room: own ? view : strange });
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
      readUpTo: length - unread,
      mentions: rank === 3 ? 1 : 0,
      mutedUntil: rank === 6 ? this.now + 60 * MINUTE : 0,
      pinned: rank === 1,
      archived: false,
      markedUnread: false,
      active: last,
      draft: '',
    });
  }

  /** Clears the cached snapshots and calls the topic's listeners. */
  change(topic: Topic) {
    this.cache.clear();
    for (const listener of Array.from(this.listeners.get(topic) ?? [])) listener();
  }

  /** Simulates a message from another user. */
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

  /** Simulates a guest who becomes a member: the chat with them gets another key. */
  rename(user: string, to: string) {
    const [from, key] = [direct(user), direct(to)];
    const person = { ...this.person(user), user: to };
    this.persons.set(to, person);
    this.chats.set(key, { ...this.conversation(from), key, with: person });
    this.timelines.set(key, this.timeline(from));
    this.drafts.set(key, this.draft(from));
    for (const all of [this.chats, this.timelines, this.drafts]) all.delete(from);
    this.moved.set(from, key);
    for (const one of [from, key]) this.change(`conversation:${one}`);
    this.change('conversations');
  }

  happen<K extends keyof ClientEvents>(name: K, detail: ClientEvents[K]) {
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
        strangers: Array.from(this.chats.values()).filter(chat => chat.request === 'received').length,
      };
    });
  conversations = (list: ListName = 'main') =>
    this.kept(`conversations ${list}`, (): ConversationList => {
      const chats = Array.from(this.chats.values()).filter(
        chat =>
          (chat.request === 'received') === (list === 'requests') &&
          chat.archived === (list === 'archived') &&
          (list !== 'unread' || chat.unread > 0 || chat.markedUnread) &&
          (list !== 'mentions' || chat.mentions > 0) &&
          (!isRoom(chat.key) || chat.room?.role !== undefined),
      );
      chats.sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.active - a.active);
      const keys = chats.map(chat => chat.key);
      return this.missing.has(list) ? { keys: [], ...MISSING } : { keys, ...LOADED };
    });
  conversation = (key: ConversationKey) =>
    this.chats.get(this.moved.get(key) ?? key) ??
    this.kept(`conversation ${key}`, (): Conversation => {
      const person = this.person(key.slice(1));
      return {
        key,
        exists: false,
        with: person,
        unread: 0,
        readUpTo: 0,
        mentions: 0,
        mutedUntil: 0,
        pinned: false,
        archived: false,
        markedUnread: false,
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
      return this.missing.has('contacts') ? { contacts: [], ...MISSING } : { contacts, ...LOADED };
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

  told: readonly Notice[] = [];
  notices = () => this.told;
  answerRequest(key: ConversationKey, answer: RequestAnswer) {
    this.note(`answerRequest ${key} ${answer}`);
    const { request: _, ...chat } = this.conversation(key);
    this.chats.set(key, chat);
    this.change(`conversation:${key}`);
    return Promise.resolve();
  }
  report(target: ReportTarget, reason: ReportReason, text?: string) {
    this.note(`report ${JSON.stringify(target)} ${reason} ${text}`);
    return Promise.resolve(1);
  }
  noticesSeen() {
    this.note('noticesSeen');
    return Promise.resolve();
  }
  reports = () => Promise.resolve({ reports: this.reported });
  reported: Report[] = [];
  moderate(act: ModerationAction): Promise<Report | undefined> {
    this.note(`moderate ${JSON.stringify(act)}`);
    return Promise.resolve(undefined);
  }
  audit = () => Promise.resolve({ entries: [] });
  testFilter = () => Promise.resolve({ hits: [] });
  settings(patch?: SiteSettings): Promise<SiteSettings> {
    this.note(`settings ${JSON.stringify(patch)}`);
    return Promise.resolve({});
  }

  subscribe(topic: Topic, listener: () => void) {
    const set = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, set.add(listener));
    return () => void set.delete(listener);
  }
  on<K extends keyof ClientEvents>(name: K, listener: (detail: ClientEvents[K]) => void) {
    const set = this.handlers.get(name) ?? new Set();
    this.handlers.set(name, set.add(listener as (detail: never) => void));
    return () => void set.delete(listener as (detail: never) => void);
  }

  connect = () => this.note('connect');
  stop = () => this.note('stop');
  setToken = () => this.note('setToken');
  forget = () => this.note('forget');
  close = () => this.note('close');
  destroy = () => this.note('destroy');
  open(key: ConversationKey) {
    this.note(`open ${key}`);
    return () => this.note(`leave ${key}`);
  }
  loadOlder = (key: ConversationKey) => this.note(`loadOlder ${key}`);
  seen(key: ConversationKey, seq: number): boolean {
    this.note(`seen ${key} ${seq}`);
    const chat = this.chats.get(key);
    if (chat === undefined || chat.unread === 0 || (chat.last?.seq ?? 0) > seq) return true;
    this.chats.set(key, { ...chat, unread: 0, mentions: 0 });
    this.change(`conversation:${key}`);
    this.change('totals');
    this.change('unread');
    return true;
  }
  async access() {
    return { site: 'fake', token: 'fake' };
  }

  send(
    key: ConversationKey,
    body: string,
    replyTo?: number,
    files?: readonly SentFile[],
    { shows }: Partial<MessageExtras> = {},
  ) {
    const id = `out-${++this.serial}`;
    const thread = shows?.thread;
    this.note(`send ${key} ${body}${thread === undefined ? '' : ` in ${thread}`}`);
    const before = this.timeline(key);
    const message: Message = {
      id,
      from: 'me',
      mine: true,
      body: body.trimEnd(),
      time: this.now,
      state: 'sending',
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(files && { files }),
      ...(thread !== undefined && { thread }),
    };
    this.timelines.set(key, { ...before, messages: [...before.messages, message] });
    this.change(`timeline:${key}`);
    return id;
  }
  edit(key: ConversationKey, seq: number, body: string) {
    this.note(`edit ${key} ${seq} ${body}`);
    this.put(key, seq, one => ({ ...one, body, edited: this.now }));
  }
  remove(key: ConversationKey, seq: number) {
    this.note(`remove ${key} ${seq}`);
    this.put(key, seq, ({ reactions: _, ...one }) => ({ ...one, body: '', deleted: true }));
  }
  react(key: ConversationKey, seq: number, reaction: string, on: boolean) {
    this.note(`react ${key} ${seq} ${reaction} ${on}`);
    this.put(key, seq, one => {
      const others = (one.reactions ?? []).filter(it => it.reaction !== reaction);
      const old = one.reactions?.find(it => it.reaction === reaction);
      const users = (old?.users ?? []).filter(user => user !== 'me');
      if (on) users.push('me');
      const now = { reaction, count: users.length, users, mine: on };
      return { ...one, reactions: users.length > 0 ? [...others, now] : others };
    });
  }
  show = (key: ConversationKey, seq?: number) =>
    Promise.resolve(seq === undefined || this.timeline(key).messages.some(one => one.seq === seq));
  loadNewer = () => undefined;
  pins = (key: ConversationKey) =>
    Promise.resolve(
      this.timeline(key)
        .messages.filter(one => one.pinned)
        .toReversed(),
    );
  pin(key: ConversationKey, seq: number, on: boolean) {
    this.note(`pin ${key} ${seq} ${on}`);
    this.put(key, seq, ({ pinned: _, ...one }) => ({ ...one, ...(on && { pinned: true }) }));
    const message = this.timeline(key).messages.find(one => one.seq === seq);
    if (message) this.happen('changed', { key, message });
    return Promise.resolve();
  }
  rich(): Promise<Rich> {
    const thread = (key: ConversationKey, seq: number): ThreadView => {
      const root = this.timeline(key).messages.find(one => one.seq === seq);
      if (root === undefined) throw new RequestError('no_such_message');
      return { key, root, follows: true, unread: 0 };
    };
    const noted = (call: string) => {
      this.note(call);
      return call;
    };
    return Promise.resolve({
      idOf: key => key.slice(1),
      keyOf: id => Promise.resolve(room(id)),
      poll: (key, question, poll) => noted(`poll ${key} ${question}: ${poll.choices.join(', ')}`),
      forward: (from, message, to) => noted(`forward ${from} ${message.seq} ${to}`),
      reply: (key, root, body) => noted(`reply ${key} ${root} ${body}`),
      vote: async (key, seq, choices) => {
        this.note(`vote ${key} ${seq} ${choices.join(',')}`);
      },
      closePoll: async (key, seq) => {
        this.note(`close ${key} ${seq}`);
      },
      stickers: async () => this.stickers,
      sticker: (key, sticker, { replyTo, thread } = {}) =>
        noted(`sticker ${key} ${sticker.words} ${replyTo ?? ''} ${thread ?? ''}`.trim()),
      dropPreview: async (key, seq) => {
        this.note(`drop preview ${key} ${seq}`);
      },
      thread: async (key, seq) => thread(key, seq),
      threads: async key =>
        this.timeline(key).messages.flatMap(one => (one.replies ? [thread(key, one.seq ?? 0)] : [])),
      replies: async (key, seq) => ({
        messages: this.timeline(key).messages.filter(one => one.thread === seq),
        more: false,
      }),
    });
  }
  search(query: string, where: { in?: ConversationKey } = {}) {
    const wanted = query.toLowerCase();
    const hits = Array.from(this.timelines, ([key, { messages }]) =>
      messages.map(message => ({ key, message })),
    )
      .flat()
      .filter(one => where.in === undefined || one.key === where.in)
      .filter(one => one.message.body.toLowerCase().includes(wanted))
      .sort((a, b) => b.message.time - a.message.time);
    return Promise.resolve({ hits: hits.slice(0, 20) });
  }
  private put(key: ConversationKey, seq: number, change: (one: Message) => Message) {
    const before = this.timeline(key);
    const messages = before.messages.map(one => (one.seq === seq ? change(one) : one));
    this.timelines.set(key, { ...before, messages });
    this.change(`timeline:${key}`);
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
    this.change('unread');
    return Promise.resolve();
  }
  /** The lists that are not loaded because a load failed. */
  readonly missing = new Set<ListName | 'contacts'>();
  /** Makes loads of lists fail. */
  fails = false;
  private loadList(list: ListName | 'contacts') {
    this.note(`load ${list}`);
    if (!this.fails) this.missing.delete(list);
    this.change(list === 'contacts' ? list : topicOf(list));
  }
  loadContacts = () => this.loadList('contacts');
  loadConversations = (list: ListName = 'main') => this.loadList(list);
  people(query?: string): Promise<{ people: Person[]; next?: string }> {
    const wanted = query?.toLowerCase() ?? '';
    const people = Array.from(this.persons.values()).filter(person =>
      person.name.toLowerCase().includes(wanted),
    );
    return Promise.resolve({ people: people.slice(0, 500) });
  }

  notifications(change: NotificationsChange = {}): Promise<NotificationSettings> {
    const { quiet, bodies, subscribe, unsubscribe, mail } = change;
    if (mail !== undefined && this.notifying.mail)
      this.notifying.mail = { ...this.notifying.mail, after: mail };
    if (bodies !== undefined) this.notifying.bodies = bodies;
    if (quiet !== undefined && quiet.from !== quiet.to) this.notifying.quiet = quiet;
    else if (quiet !== undefined) delete this.notifying.quiet;
    if (subscribe) this.notifying.devices += 1;
    if (unsubscribe) this.notifying.devices -= 1;
    return Promise.resolve({ ...this.notifying });
  }

  prepare() {}

  /** Answers the requests of lazy parts, for example for profiles. */
  ask<R extends Unnumbered>(request: R): Promise<Answer<R['t']>> {
    return this.answer(request) as Promise<Answer<R['t']>>;
  }

  private answer(request: Unnumbered): Promise<Event> {
    if (request.t === 'profile') return Promise.resolve(this.profileEvent(request.user));
    if (request.t === 'devices') return Promise.resolve({ t: 'devices', re: 0, devices: this.devices });
    if (request.t === 'app_passwords') return Promise.resolve(this.passwordsEvent());
    this.note(JSON.stringify(request));
    if (request.t === 'create_app_password') {
      const number = (this.passwords[0]?.number ?? 0) + 1;
      const created: AppPassword = { number, name: request.name, created: this.now };
      this.passwords = [created, ...this.passwords];
      return Promise.resolve({
        t: 'app_password',
        re: 0,
        created,
        password: 'abcde-fghjk-mnpqr-tuvwx-y3467',
      });
    }
    if (request.t === 'revoke_app_password') {
      this.passwords = this.passwords.filter(one => one.number !== request.number);
      return Promise.resolve(this.passwordsEvent());
    }
    if (request.t === 'sign_out') {
      this.devices = this.devices.filter(one => one.device !== request.device);
      return Promise.resolve({ t: 'devices', re: 0, devices: this.devices });
    }
    if (request.t === 'contact_name') {
      const { user, name } = request;
      const { displayName, ...person }: KnownPerson = this.person(user);
      const shown = displayName ?? person.name;
      this.persons.set(user, { ...person, name: name || shown, ...(name && { displayName: shown }) });
      const contact = { user, name: shown, state: this.contact(user), ...(name && { own_name: name }) };
      this.change(`person:${user}`);
      this.change('contacts');
      return Promise.resolve({ t: 'contact', re: 0, contact, position: 'p1' });
    }
    if (request.t !== 'change_profile') return Promise.reject(new Error('offline'));
    const { t: _, status, status_until, name, ...audiences } = request;
    if (status !== undefined) this.said = { status, status_until };
    if (name) this.myself = { ...this.myself, name };
    Object.assign(this.own, audiences);
    return Promise.resolve(this.profileEvent());
  }

  private passwordsEvent(): Event {
    const { address, passwords } = this;
    return { t: 'app_passwords', re: 0, ...(address !== undefined && { address }), passwords };
  }

  private profileEvent(user?: string): Event {
    const mine = user === undefined || user === this.myself.user;
    const { name, avatar }: KnownPerson = mine ? this.myself : this.person(user);
    const view = mine ? { presence: 'online' as const } : this.presence(user);
    const said = mine ? this.said : { status: '🌴 On holiday', status_until: undefined };
    const profile: Profile = {
      user: user ?? this.myself.user,
      name,
      presence: view.presence,
      state: mine ? 'none' : this.contact(user),
      ...(avatar !== undefined && { avatar }),
      ...(said.status && { status: said.status }),
      ...(said.status && said.status_until !== undefined && { status_until: said.status_until }),
      ...('lastSeen' in view && view.lastSeen !== undefined && { last_seen: view.lastSeen }),
      ...(mine && { own: { ...this.own } }),
    };
    return { t: 'profile', re: 0, profile };
  }

  rooms(query?: string) {
    const wanted = query?.toLowerCase() ?? '';
    const rooms = Array.from(this.listed.values()).filter(one =>
      one.room.name.toLowerCase().startsWith(wanted),
    );
    return Promise.resolve({ rooms });
  }
  createRoom({ name, kind, topic }: { name: string; kind: RoomKind; topic?: string }) {
    this.note(`create ${kind} ${name}`);
    const key = room(`made${++this.serial}`);
    this.addRoom(
      key,
      {
        name,
        kind,
        role: 'owner',
        members: 1,
        ...(topic && { topic }),
        slowMs: 0,
        frozen: false,
        maxMembers: 0,
      },
      0,
    );
    this.change('conversations');
    return Promise.resolve(key);
  }
  changeRoom(key: ConversationKey, change: RoomChange) {
    this.note(`change room ${key} ${JSON.stringify(change)}`);
    this.setRoom(key, change);
    return Promise.resolve();
  }
  join(key: ConversationKey) {
    this.note(`join ${key}`);
    // A member keeps the role.
    this.setRoom(key, { role: this.conversation(key).room?.role ?? 'member' });
    return Promise.resolve();
  }
  /** The invite links of a room, and the server's response to an invite code: the room or the code of a refusal. */
  links: readonly Link[] = [];
  invited: Invited | Code = 'bad_invitation';
  invitations(): Promise<Invitations> {
    const answer = <T>(call: string, made: () => T): Promise<T> => {
      this.note(call);
      const { invited } = this;
      return typeof invited === 'string'
        ? Promise.reject(new RequestError(invited))
        : Promise.resolve(made());
    };
    return Promise.resolve({
      links: async () => this.links,
      makeLink: (key, hours, uses) => {
        const code = String(++this.serial).padStart(22, 'x');
        const until = this.now + hours * 60 * MINUTE;
        const link: Link = { code, by: 'me', until, used: 0, ...(uses !== undefined && { uses }) };
        return answer(`make link ${key} ${hours} ${uses ?? ''}`.trim(), () => {
          this.links = [link, ...this.links];
          return link;
        });
      },
      takeBackLink: async (key, code) => {
        this.note(`take back ${key} ${code}`);
        this.links = this.links.filter(one => one.code !== code);
        return this.links;
      },
      openLink: code => answer(`look at ${code}`, () => this.invited as Invited),
      joinLink: code => answer(`join by ${code}`, () => room('r5')),
    });
  }
  leave(key: ConversationKey) {
    this.note(`leave room ${key}`);
    this.setRoom(key, { role: undefined });
    return Promise.resolve();
  }
  inFront = () => true;
  /** The actions of calls that components sent. Without a test's own function, each one fails as offline. */
  readonly callActions: CallAction[] = [];
  answerCall: (action: CallAction) => Promise<CallEvent> = () => Promise.reject(new Error('offline'));
  call(action: CallAction) {
    this.callActions.push(action);
    return this.answerCall(action);
  }

  members(_: ConversationKey, query?: string) {
    const wanted = query?.toLowerCase() ?? '';
    const all = [this.myself as KnownPerson, ...this.persons.values()].filter(one =>
      one.name
        .toLowerCase()
        .split(' ')
        .some(word => word.startsWith(wanted)),
    );
    const members = all.map(
      ({ user, name }, at): Member => ({
        user,
        name,
        role: at === 0 ? 'owner' : at < 3 ? 'moderator' : at === 9 ? 'muted' : 'member',
      }),
    );
    return Promise.resolve({ members });
  }
  changeMember(_: ConversationKey, user: string, action: MemberAction, { role }: MemberTerms = {}) {
    this.note(`${action} ${user} ${role ?? ''}`.trim());
    const { name } = this.person(user);
    return Promise.resolve({ user, name, ...(role && { role }) });
  }
  setRoom(key: ConversationKey, change: { [K in keyof RoomView]?: RoomView[K] | undefined }) {
    const chat = this.conversation(key);
    const { role, ...rest } = { ...chat.room, ...change } as RoomView;
    this.chats.set(key, { ...chat, room: { ...rest, ...(role && { role }) } });
    this.change(`conversation:${key}`);
    this.change('conversations');
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
