// The client: connects replica, views, tabs and engine for one member of one site in one tab.

import { backoff } from './backoff.ts';
import { BrowserStorage } from './browser_storage.ts';
import type { Action, Change } from './change.ts';
import {
  type Access,
  type CallEvent,
  type Client,
  type ClientEvents,
  type ContactList,
  type Conversation,
  type ConversationChange,
  type ConversationKey,
  type ConversationList,
  type Found,
  type Invitations,
  isRoom,
  type KnownPerson,
  type ListName,
  type Me,
  type Message,
  type ModerationAction,
  type NotificationSettings,
  type NotificationsChange,
  type PresenceView,
  pagesOf,
  type ReportTarget,
  RequestError,
  type Rich,
  type SiteSettings,
  type Status,
  type Timeline,
  type Topic,
  type Totals,
} from './client.ts';
import { skipsUnread } from './conversation_state.ts';
import type { Environment, PageEvent } from './environment.ts';
import { uuid7 } from './id.ts';
import { GUEST, Leadership } from './leadership.ts';
import { Listeners } from './listeners.ts';
import { Loading } from './loading.ts';
import type { MessageExtras } from './message_extras.ts';
import { page } from './page_request.ts';
import { joined, type Wanted } from './presence_watch.ts';
import { Profiles } from './profiles.ts';
import { Replica } from './replica.ts';
import type { Answer, Unnumbered } from './request.ts';
import type { Rooms } from './rooms.ts';
import { claims } from './token_claims.ts';
import { Views } from './views.ts';
import type {
  CallAction,
  Contact,
  ContactAction,
  ContactState,
  Person,
  ReportReason,
  ReportState,
  RequestAnswer,
  RoomKind,
  SentFile,
  SetPresence,
} from './wire.ts';

export interface ClientOptions {
  /** Key of the site. */
  site: string;
  /** A token of the site for the member of this page. Undefined: nobody is signed in, so sign in as a guest. */
  token(): Promise<string | undefined>;
  /** The `sub` of the tokens, if the page knows it. Then only the leading tab needs a token. */
  user?: string;
  /** Titles of pages, by the path that names their rooms. They are read when a room is drawn. */
  pageNames?: Readonly<Record<string, string>>;
}

export function createClient(options: ClientOptions, env: Environment): Client {
  return new Member(options, env);
}

/** A token that expires sooner than this is not used again. */
const HELD_MS = 60_000;

class Member implements Client {
  #replica = new Replica();
  #views: Views;
  #stored: BrowserStorage;
  #leadership: Leadership;
  #user: string | undefined;
  /** The user that the page has named. Dropped when a token has another `sub`. */
  #hint: string | undefined;
  /** An unused token: fetched to identify the user, or pushed by the page. */
  #freshToken: string | undefined;
  /** The last token, for requests beside the session. */
  #held: string | undefined;
  #wanted = false;
  #identifying = 0;
  #callOff: (() => void) | undefined;
  #dirty = new Set<Topic>();
  #flushing = false;
  #lapsing: { at: number; cancel: () => void } | undefined;
  /** The watches of each caller. */
  #watches = new Set<Wanted>();
  #loading: Loading;
  #profiles: Profiles;
  #listeners = new Listeners<ClientEvents>();
  #totals: Totals;
  #unlisten: () => void;
  #destroyed = false;
  #changedAt = 0;
  /** The access to the server for modules that send requests. */
  #reach = {
    replica: this.#replica,
    online: () => this.#online(),
    ask: <R extends Unnumbered>(request: R) => this.#ask(request),
  };

  constructor(
    private readonly options: ClientOptions,
    private readonly env: Environment,
  ) {
    this.#hint = options.user;
    this.#views = new Views(this.#replica, env.compare, () => env.now(), options.pageNames, env.server);
    const reach = this.#reach;
    this.#loading = new Loading({
      ...reach,
      views: this.#views,
      changed: topics => this.#changedHere(topics),
      trimmed: () => this.#changed(),
    });
    this.#profiles = new Profiles({
      ...reach,
      knows: user => this.#replica.people.byUser.has(user),
      soon: call => env.soon(call),
    });
    this.#stored = new BrowserStorage(env.storage, options.site);
    this.#leadership = new Leadership(env, {
      site: options.site,
      replica: this.#replica,
      stored: this.#stored,
      token: () => this.#token(),
      mirror: change => this.#mirror(change),
      restored: () => {
        this.#changed();
        this.#loading.fillAll();
      },
    });
    this.#totals = this.#views.totals();
    this.#unlisten = env.page.listen(what => this.#page(what));
  }

  // -- reading --

  get server(): string {
    return this.env.server;
  }

  status(): Status {
    const { status } = this.#replica;
    const shared = this.#leadership.follows;
    if (status.shared !== shared) this.#replica.status = { ...status, shared };
    return this.#replica.status;
  }

  me(): Me | undefined {
    return this.#views.me();
  }

  totals(): Totals {
    return this.#views.totals();
  }

  conversations(list: ListName = 'main'): ConversationList {
    return this.#views.conversations(list);
  }

  conversation(key: ConversationKey): Conversation {
    const view = this.#views.conversation(key);
    if (!isRoom(key)) this.#profiles.meet(view.with.user);
    return view;
  }

  timeline(key: ConversationKey): Timeline {
    return this.#views.timeline(key);
  }

  contacts(): ContactList {
    return this.#views.contacts();
  }

  contact(user: string): ContactState {
    return this.#replica.people.contacts.get(user) ?? 'none';
  }

  person(user: string): KnownPerson {
    this.#profiles.meet(user);
    return this.#views.person(user);
  }

  presence(user: string): PresenceView {
    return this.#views.presence(user);
  }

  typing(key: ConversationKey): readonly string[] {
    return this.#views.typing(key);
  }

  draft(key: ConversationKey): string {
    return this.#views.draft(key);
  }

  notices() {
    return this.#replica.notices;
  }

  inFront(): boolean {
    return this.#leadership.inFront ?? true;
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    return this.#views.subscribe(topic, listener);
  }

  on<K extends keyof ClientEvents>(name: K, listener: (detail: ClientEvents[K]) => void): () => void {
    return this.#listeners.on(name, listener);
  }

  // -- connection --

  connect(): void {
    if (this.#destroyed) return;
    if (this.#wanted && this.#leadership.entered) return this.#leadership.wake(true);
    if (this.#wanted && this.#callOff === undefined && this.#identifying > 0) return;
    this.#wanted = true;
    this.#callOff?.();
    this.#callOff = undefined;
    this.#identify(0);
  }

  stop(): void {
    this.#wanted = false;
    this.#identifying = 0;
    this.#callOff?.();
    this.#callOff = undefined;
    this.#leadership.stop();
    this.#mirror({ c: 'status', status: { state: 'stopped', shared: false } });
  }

  setToken(token: string): void {
    const { sub } = claims(token);
    this.#freshToken = token;
    if (this.#user !== undefined && sub !== undefined && sub !== this.#user) return this.#switch();
    if (this.#leadership.leads) {
      this.#freshToken = undefined;
      this.#held = token;
      this.#leadership.token(token);
    }
  }

  forget(): void {
    this.stop();
    this.#clear();
  }

  close(): void {
    if (this.#destroyed) return;
    this.stop();
    this.#destroyed = true;
    this.#unlisten();
    this.#views.forgetListeners();
    this.#listeners.clear();
    this.#lapsing?.cancel();
  }

  destroy(): void {
    this.close();
    this.#stored.forgetGuest();
  }

  /** Finds out the user, which decides the tabs that belong together and the cache to show. */
  #identify(attempt: number): void {
    const known = this.#user ?? this.#hint;
    if (known !== undefined) return this.#enter(known);
    const number = ++this.#identifying;
    this.#mirror({ c: 'status', status: { state: 'connecting', shared: false } });
    const token = this.#freshToken === undefined ? this.options.token() : Promise.resolve(this.#freshToken);
    token.then(
      text => {
        if (number !== this.#identifying || !this.#wanted) return;
        this.#freshToken = text;
        // If the `sub` is not readable, the server reports the error of the token.
        this.#enter(text === undefined ? GUEST : (claims(text).sub ?? 'unreadable'));
      },
      () => {
        if (number !== this.#identifying || !this.#wanted) return;
        const wait = 1_000 + backoff(attempt, this.env.random());
        const retryAt = this.env.now() + wait;
        this.#mirror({ c: 'status', status: { state: 'waiting', retryAt, shared: false } });
        this.#callOff = this.env.timer(wait, () => {
          this.#callOff = undefined;
          this.#identify(attempt + 1);
        });
      },
    );
  }

  #enter(user: string): void {
    this.#user = user;
    const cached = this.#replica.me === undefined ? this.#stored.cache(user) : undefined;
    const written = { queue: this.#replica.written.queue, drafts: new Map(this.#replica.written.drafts) };
    if (cached) {
      this.#replica.restore({
        ...cached,
        queue: [...cached.queue, ...written.queue],
        drafts: [...cached.drafts, ...written.drafts],
        status: this.#replica.status,
      });
      this.#changed();
    }
    this.#leadership.enter(user, this.#wantedHere(), written);
  }

  async #token(): Promise<string | undefined> {
    const fresh = this.#freshToken;
    this.#freshToken = undefined;
    if (fresh !== undefined) {
      this.#held = fresh;
      return fresh;
    }
    const token = await this.options.token();
    this.#held = token;
    const sub = token === undefined ? GUEST : (claims(token).sub ?? 'unreadable');
    if (this.#user === undefined || sub === this.#user) return token;
    // Another member has signed in on the site, or the member has signed out. Remove all data of the former member.
    if (token === undefined) this.forget();
    else {
      this.#freshToken = token;
      this.#switch();
    }
    throw new RequestError('offline');
  }

  /** Drops all state, and begins again for another member. */
  #switch(): void {
    this.#leadership.leave();
    this.#clear();
    if (this.#wanted) this.#identify(0);
  }

  #clear(): void {
    if (this.#user !== undefined) this.#stored.forget(this.#user);
    this.#stored.forgetGuest();
    this.#user = undefined;
    this.#held = undefined;
    this.#hint = undefined;
    this.#identifying += 1;
    const { status } = this.#replica;
    this.#replica.restore({ ...new Replica().snapshot(), status });
    this.#replica.people.byUser.clear();
    this.#profiles.clear();
    this.#changed();
  }

  #page(what: PageEvent): void {
    switch (what) {
      case 'visible':
        return this.#leadership.wake(false);
      case 'focused':
        return this.#leadership.comeToFront();
      case 'online':
      case 'offline':
        return this.#leadership.network(what === 'online');
      case 'leaving':
        this.#leadership.saveDrafts();
        return this.#leadership.leave();
      case 'restored':
        if (this.#wanted && !this.#leadership.entered && this.#user !== undefined) this.#enter(this.#user);
        else this.#leadership.wake(false);
        return;
      case 'hidden':
        this.#leadership.saveDrafts();
        return this.#leadership.save();
    }
  }

  // -- actions --

  open(key: ConversationKey): () => void {
    if (this.#replica.known(key).markedUnread)
      this.changeConversation(key, { markedUnread: false }).catch(() => undefined);
    return this.#loading.open(key);
  }

  loadOlder(key: ConversationKey): void {
    this.#loading.older(key);
  }

  loadContacts(): void {
    this.#loading.contacts();
  }

  loadConversations(list: ListName = 'main'): void {
    this.#loading.conversations(pagesOf(list));
  }

  seen(key: ConversationKey, seq: number, from = 0): boolean {
    const known = this.#replica.known(key);
    if (seq <= known.read) return true;
    if (skipsUnread(known, from, this.#replica.me?.user)) return false;
    this.#do({ a: 'seen', key, seq });
    return true;
  }

  send(
    key: ConversationKey,
    body: string,
    replyTo?: number,
    files?: readonly SentFile[],
    bears?: MessageExtras,
  ): string {
    const id = uuid7(this.env.now(), this.env.bytes(16));
    const text = body.trimEnd();
    const screen = this.#views.screens.get(key);
    if (screen) screen.unreadFrom = undefined;
    this.#do({
      a: 'queue',
      id,
      key,
      body: text,
      time: this.env.now(),
      ...(replyTo !== undefined && { replyTo }),
      ...(files && { files }),
      ...(bears && { bears }),
    });
    return id;
  }

  edit(key: ConversationKey, seq: number, body: string): void {
    this.#do({ a: 'change', what: 'edit', key, seq, body: body.trimEnd(), time: this.#changeTime() });
  }

  remove(key: ConversationKey, seq: number): void {
    this.#do({ a: 'change', what: 'delete', key, seq, time: this.#changeTime() });
  }

  react(key: ConversationKey, seq: number, reaction: string, on: boolean): void {
    this.#do({ a: 'change', what: 'react', key, seq, reaction, on, time: this.#changeTime() });
  }

  /** Returns a time that no earlier change of this tab has, because the later of two changes counts. */
  #changeTime(): number {
    this.#changedAt = Math.max(this.env.now(), this.#changedAt + 1);
    return this.#changedAt;
  }

  show(key: ConversationKey, seq?: number | 'unread'): Promise<boolean> {
    return this.#loading.show(key, seq);
  }

  loadNewer(key: ConversationKey): void {
    this.#loading.newer(key);
  }

  retry(id: string): void {
    this.#do({ a: 'retry', id });
  }

  discard(id: string): void {
    this.#do({ a: 'discard', id });
  }

  setDraft(key: ConversationKey, text: string): void {
    if (text !== this.draft(key)) this.#do({ a: 'draft', key, text });
  }

  setTyping(key: ConversationKey, on: boolean): void {
    // A stranger must not see the member typing before the request is answered.
    if (this.#replica.known(key).request !== 'received') this.#do({ a: 'typing', key, on });
  }

  setPresence(set: SetPresence): void {
    this.#do({ a: 'presence', set });
  }

  watch(users: readonly string[], what: 'presence' | 'last_seen' = 'presence'): () => void {
    return this.#want({ contacts: false, users, lastSeen: what === 'last_seen' ? users : [] });
  }

  watchContacts(): () => void {
    return this.#want({ contacts: true, users: [], lastSeen: [] });
  }

  #want(wanted: Wanted): () => void {
    this.#watches.add(wanted);
    this.#leadership.watch(this.#wantedHere());
    return () => {
      if (this.#watches.delete(wanted)) this.#leadership.watch(this.#wantedHere());
    };
  }

  async changeContact(action: ContactAction, user: string): Promise<Contact> {
    const event = await this.#ask({ t: 'contact', action, user });
    return event.contact;
  }

  async changeConversation(key: ConversationKey, change: ConversationChange): Promise<void> {
    const id = this.#idOf(key);
    const { mutedUntil, markedUnread, ...rest } = change;
    await this.#ask({
      t: 'conversation',
      conversation: id,
      ...rest,
      ...(mutedUntil !== undefined && { muted_until: mutedUntil }),
      ...(markedUnread !== undefined && { marked_unread: markedUnread }),
    });
  }

  async people(query?: string, after?: string): Promise<{ people: Person[]; next?: string }> {
    const event = await this.#ask({ t: 'people', ...page(query, after) });
    return { people: event.people, ...(event.next !== undefined && { next: event.next }) };
  }

  async call(action: CallAction): Promise<CallEvent> {
    const event = await this.#ask({ t: 'call', ...action });
    return event;
  }

  // -- moderation --

  answerRequest(key: ConversationKey, answer: RequestAnswer) {
    return order().then(one => one.answer(this.#reach, key, answer));
  }

  report(target: ReportTarget, reason: ReportReason, text?: string) {
    return order().then(one => one.report(this.#reach, target, reason, text));
  }

  noticesSeen() {
    return order().then(one => one.noticesSeen(this.#reach));
  }

  reports(state?: ReportState, after?: string) {
    return order().then(one => one.reports(this.#reach, state, after));
  }

  moderate(act: ModerationAction) {
    return order().then(one => one.moderate(this.#reach, act));
  }

  audit(after?: string) {
    return order().then(one => one.audit(this.#reach, after));
  }

  testFilter(body: string) {
    return order().then(one => one.testFilter(this.#reach, body));
  }

  settings(patch?: SiteSettings) {
    return order().then(one => one.settings(this.#reach, patch));
  }

  async search(query: string, where: { in?: ConversationKey; after?: string } = {}): Promise<Found> {
    return (await askedMessages()).search(this.#reach, query, where);
  }

  async rich(): Promise<Rich> {
    return (await import('./message_extras.ts')).richOf({
      ...this.#reach,
      send: (...one) => this.send(...one),
    });
  }

  async pins(key: ConversationKey): Promise<readonly Message[]> {
    return (await askedMessages()).pins(this.#reach, key);
  }

  async pin(key: ConversationKey, seq: number, on: boolean): Promise<void> {
    await this.#ask({ t: 'pin', conversation: this.#idOf(key), seq, on });
  }

  #idOf(key: ConversationKey): string {
    const { id } = this.#replica.known(key);
    if (id === undefined) throw new RequestError('no_such_conversation');
    return id;
  }

  async notifications(change?: NotificationsChange): Promise<NotificationSettings> {
    const event = await this.#ask({ t: 'notifications', ...change });
    return event;
  }

  // -- rooms --

  async rooms(...of: Parameters<Client['rooms']>) {
    return (await this.#ofRooms()).list(...of);
  }

  async createRoom(room: { name: string; kind: RoomKind; topic?: string }): Promise<ConversationKey> {
    return (await this.#ofRooms()).create(room);
  }

  async changeRoom(...of: Parameters<Client['changeRoom']>) {
    return (await this.#ofRooms()).change(...of);
  }

  async join(key: ConversationKey): Promise<void> {
    return (await this.#ofRooms()).join(key);
  }

  async leave(...of: Parameters<Client['leave']>) {
    return (await this.#ofRooms()).leave(...of);
  }

  async members(...of: Parameters<Client['members']>) {
    return (await this.#ofRooms()).members(...of);
  }

  async changeMember(...of: Parameters<Client['changeMember']>) {
    return (await this.#ofRooms()).changeMember(...of);
  }

  invitations(): Promise<Invitations> {
    return this.#ofRooms();
  }

  async #ofRooms(): Promise<Rooms> {
    return new (await rooms()).Rooms({ ...this.#reach, views: this.#views });
  }

  // -- requests --

  prepare(): void {
    for (const code of [rooms, order, askedMessages]) code().catch(() => undefined);
  }

  ask<R extends Unnumbered>(request: R): Promise<Answer<R['t']>> {
    return this.#ask(request);
  }

  async access(fresh = false): Promise<Access> {
    const { site } = this.options;
    const guest = this.#replica.guestToken;
    const held = this.#user === GUEST ? guest : fresh ? undefined : this.#held;
    const isOver = (claims(held ?? '').exp ?? 0) < this.env.now() + HELD_MS;
    const token = held === undefined || (isOver && held !== guest) ? await this.#token() : held;
    if (token === undefined) throw new RequestError('no_guests');
    return { site, token };
  }

  #online(): boolean {
    return this.#replica.status.state === 'online' && this.#leadership.entered;
  }

  #ask<R extends Unnumbered>(request: R): Promise<Answer<R['t']>> {
    return this.#leadership.ask(request);
  }

  // -- changes --

  #do(action: Action): void {
    this.#leadership.do(action);
  }

  #mirror(change: Change): void {
    const wasOnline = this.#online();
    this.#replica.apply(change);
    this.#changed();
    if (!wasOnline && this.#online()) {
      this.#loading.fillAll();
      this.#profiles.ask();
    }
  }

  /** Call it after a change of the replica. Drops views, notifies the engine, and calls listeners after this turn. */
  #changed(): void {
    const next = this.#replica.typing.lapse(this.env.now());
    const topics = this.#replica.takeChanged();
    this.#changedHere(topics);
    for (const [name, detail] of this.#replica.takeHappened()) {
      if (name === 'message') this.#messageCame(detail);
      else if (name !== 'totals') this.#tell(name, detail);
    }
    const keys = conversationsIn(topics);
    this.#leadership.touched(keys);
    for (const key of keys) if (this.#views.screens.has(key)) this.#loading.fill(key);
    this.#scheduleLapse(next);
  }

  #tell<K extends keyof ClientEvents>(name: K, detail: ClientEvents[keyof ClientEvents]): void {
    this.#listeners.emit(name, detail as ClientEvents[K]);
  }

  #messageCame(detail: ClientEvents['message']): void {
    const screen = this.#views.screens.get(detail.key);
    // The conversation is open and the page is hidden: place the unread line here, unless there is one already.
    const isFirst = screen?.unreadFrom === undefined || this.#replica.known(detail.key).unread === 1;
    if (screen && isFirst && !this.env.page.visible()) {
      screen.unreadFrom = detail.message.seq;
      this.#changedHere([`timeline:${detail.key}`]);
    }
    this.#listeners.emit('message', { ...detail, first: this.#leadership.inFront ?? false });
  }

  #changedHere(topics: Iterable<Topic>): void {
    this.#views.invalidate(topics);
    for (const topic of topics) this.#dirty.add(topic);
    if (this.#flushing || this.#dirty.size === 0) return;
    this.#flushing = true;
    this.env.soon(() => {
      this.#flushing = false;
      const dirty = this.#dirty;
      this.#dirty = new Set();
      this.#views.notify(dirty);
      if (dirty.has('totals')) this.#tellTotals();
    });
  }

  #tellTotals(): void {
    const before = this.#totals;
    this.#totals = this.#views.totals();
    const same = (Object.keys(before) as (keyof Totals)[]).every(key => before[key] === this.#totals[key]);
    if (!same) this.#listeners.emit('totals', this.#totals);
  }

  #scheduleLapse(next: number | undefined): void {
    if (next === this.#lapsing?.at) return;
    this.#lapsing?.cancel();
    this.#lapsing = undefined;
    if (next === undefined) return;
    const cancel = this.env.timer(Math.max(0, next - this.env.now()), () => {
      this.#lapsing = undefined;
      this.#changed();
    });
    this.#lapsing = { at: next, cancel };
  }

  #wantedHere(): Wanted {
    return joined([...this.#watches]);
  }
}

const failed = () => {
  throw new RequestError('offline');
};

/** Code for message requests, reports and moderation. */
const order = () => import('./moderation.ts').catch(failed);

/** Code for search and pinned messages. */
const askedMessages = () => import('./message_queries.ts').catch(failed);

/** Code for rooms. */
const rooms = () => import('./rooms.ts').catch(failed);

function conversationsIn(topics: Iterable<Topic>): ConversationKey[] {
  const prefix = 'conversation:';
  const keys: ConversationKey[] = [];
  for (const topic of topics) {
    if (topic.startsWith(prefix)) keys.push(topic.slice(prefix.length) as ConversationKey);
  }
  return keys;
}
