// A small server for tests. It keeps the protocol's rules about order, position and ids, and causes faults on demand.

import type { Link, LinkListener, OpenLink } from '../src/environment.ts';
import type {
  Code,
  Command,
  Contact,
  Conversation,
  Event,
  Gap,
  Message,
  Person,
  SendTo,
  Welcome,
} from '../src/wire.ts';
import type { Clock } from './clock.ts';

interface Talk {
  id: string;
  members: [string, string];
  messages: Message[];
  positions: number[];
  /** The position of each message's last change: seq → position. */
  changes: Map<number, number>;
  markers: Map<string, { received: number; read: number }>;
  changed: number;
}

interface Session {
  user: string;
  device: string;
  listener: LinkListener;
  alive: boolean;
  /** The client no longer listens. */
  mute: boolean;
  watch: Set<string>;
  watchesContacts: boolean;
  /** The time of the last scheduled delivery, so that deliveries keep their order. */
  busyUntil: number;
}

export const LIMITS = {
  body_bytes: 8192,
  frame_bytes: 32768,
  page: 100,
  watch: 200,
  idle_ms: 75_000,
  heartbeat_ms: 10_000,
};

export class Server {
  readonly talks = new Map<string, Talk>();
  readonly sessions = new Set<Session>();
  readonly names = new Map<string, string>();
  readonly lastSeen = new Map<string, number>();
  /** More contacts than these are not named by `watching`. */
  mostNamed = 1_000;
  readonly contacts = new Map<string, Map<string, Contact['state']>>();
  /** A user's changes to their view of a conversation: `user id` → changed fields. */
  readonly views = new Map<string, Partial<Conversation>>();
  /** All executed commands, with their users. */
  readonly log: { user: string; command: Command }[] = [];
  hellos = 0;
  position = 0;
  epoch = 'e1';
  /** If a conversation has more missed messages than this, the server sends a gap. */
  gapAfter = 10;
  /** If more older messages of a conversation have changed than this, the client must forget its messages. */
  updatesAtMost = 10;
  latency = () => 10;
  /** Called before each delivery and each command: returns the fault to cause. */
  fault: (where: 'up' | 'down', frame: Command | Event) => 'no' | 'cut' | 'twice' | 'swallow' = () => 'no';
  /** Returns an event that refuses the command. */
  refuse: (command: Command, user: string) => Event | undefined = () => undefined;
  reachable = true;
  /** The new token for a returning guest, which replaces the presented one. */
  renewal: string | undefined;

  constructor(private readonly clock: Clock) {}

  /** The transport for a browser. */
  readonly open: OpenLink = (hello, listener) => {
    this.hellos += 1;
    const session: Session = {
      user: '',
      device: '',
      listener,
      alive: true,
      mute: false,
      watch: new Set(),
      watchesContacts: false,
      busyUntil: 0,
    };
    if (!this.reachable) this.clock.timer(this.latency(), () => this.cut(session));
    else this.clock.timer(this.latency(), () => session.alive && this.#hello(session, JSON.parse(hello)));
    let busyUntil = 0;
    return {
      send: frame => {
        const command = JSON.parse(frame) as Command;
        busyUntil = Math.max(busyUntil, this.clock.now + this.latency());
        this.clock.timer(busyUntil - this.clock.now, () => this.#arrives(session, command));
      },
      // Earlier frames arrive before the end.
      close: () => {
        session.mute = true;
        this.clock.timer(Math.max(0, busyUntil - this.clock.now), () => {
          session.alive = false;
          this.sessions.delete(session);
        });
      },
    } satisfies Link;
  };

  /** The connection breaks, and frames in transit are lost. */
  cut(session: Session): void {
    if (!session.alive) return;
    session.alive = false;
    this.sessions.delete(session);
    if (!session.mute) session.listener.closed({});
  }

  cutAll(): void {
    for (const session of [...this.sessions]) this.cut(session);
  }

  /** All connections are dead, but neither side is notified. */
  freeze(): void {
    for (const session of this.sessions) session.alive = false;
    this.sessions.clear();
  }

  /** Posts a message of a user who has no client. */
  says(from: string, to: string, body: string, id = `x-${this.position}`): Message {
    return this.#append(from, to, { t: 'send', id, to: { user: to }, body }, undefined);
  }

  talk(a: string, b: string): Talk {
    const members = [a, b].sort() as [string, string];
    const id = `c_${members.join('_')}`;
    const talk = this.talks.get(id) ?? {
      id,
      members,
      messages: [],
      positions: [],
      changes: new Map(),
      markers: new Map(),
      changed: 0,
    };
    this.talks.set(id, talk);
    return talk;
  }

  /** Two users become contacts, or are no longer contacts. */
  relate(a: string, b: string, state: 'contact' | 'none'): void {
    this.position += 1;
    for (const [user, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const own = this.contacts.get(user) ?? new Map();
      this.contacts.set(user, own.set(other, state));
      const contact = { ...this.person(other), state };
      this.tell(user, { t: 'contact', contact, position: `${this.epoch}.${this.position}` });
      if (state === 'contact') this.#tellOf(other, session => session.user === user);
    }
  }

  /** Sends the user's presence to all watchers. */
  shows(user: string): void {
    this.#tellOf(user, () => true);
  }

  #tellOf(user: string, to: (session: Session) => boolean): void {
    for (const session of [...this.sessions].filter(to)) {
      const isContact = this.contacts.get(session.user)?.get(user) === 'contact';
      if (session.watch.has(user) || (session.watchesContacts && isContact))
        this.#deliver(session, this.#presenceOf(user));
    }
  }

  #presenceOf(user: string): Event {
    const presence = this.#presence(user);
    const at = presence === 'offline' ? this.lastSeen.get(user) : undefined;
    return { t: 'presence', user, presence, ...(at !== undefined && { last_seen: at }) };
  }

  tell(user: string, event: Event): void {
    for (const session of this.sessions) if (session.user === user) this.#deliver(session, event);
  }

  #hello(session: Session, hello: Command & { t: 'hello' }): void {
    const guest = hello.token === undefined && `guest_${this.hellos}`;
    const user = guest || subject(hello.token ?? '');
    const refusal = this.refuse(hello, user);
    if (refusal) return this.#deliver(session, refusal);
    for (const other of [...this.sessions]) {
      if (other.user !== user || other.device !== hello.device) continue;
      this.#deliver(other, { t: 'bye', code: 'replaced', text: '' });
      this.sessions.delete(other);
    }
    session.user = user;
    session.device = hello.device;
    this.sessions.add(session);
    const since = this.#number(hello.position);
    const welcome: Welcome = {
      session: 's',
      key: 'k',
      me: { ...this.person(user), ...(user.startsWith('guest_') && { guest: true }) },
      ...(guest && { guest_token: tokenOf(guest) }),
      ...(!guest && this.renewal !== undefined && { guest_token: this.renewal }),
      presence: 'online',
      open: true,
      limits: LIMITS,
      time: this.clock.now,
      expires: this.clock.now + 3_600_000,
      resumed: since !== undefined,
      ...this.#since(user, since),
    };
    this.#deliver(session, { t: 'welcome', ...welcome });
  }

  #since(user: string, since: number | undefined) {
    const talks = [...this.talks.values()].filter(
      one => one.members.includes(user) && one.messages.length > 0,
    );
    const changed = talks.filter(one => since === undefined || one.changed > since);
    const gaps: Gap[] = [];
    const messages = changed.flatMap(talk => {
      if (since === undefined) return [];
      const missed = talk.messages.filter((_, at) => (talk.positions[at] ?? 0) > since);
      const sent = missed.slice(-this.gapAfter);
      if (sent.length < missed.length) gaps.push({ conversation: talk.id, first: sent[0]!.seq });
      return sent;
    });
    const updates = changed.flatMap(talk => {
      if (since === undefined) return [];
      const later = talk.messages.filter(
        ({ seq }, at) => (talk.changes.get(seq) ?? 0) > since && (talk.positions[at] ?? 0) <= since,
      );
      if (later.length <= this.updatesAtMost) return later.map(one => this.#seenBy(user, one));
      const known = gaps.find(one => one.conversation === talk.id);
      const first = known?.first ?? talk.messages.length + 1;
      if (known) known.forget = true;
      else gaps.push({ conversation: talk.id, first, forget: true });
      return [];
    });
    return {
      conversations: changed.map(one => this.record(one, user)),
      messages: messages.map(one => this.#seenBy(user, one)),
      ...(updates.length > 0 && { updates }),
      gaps,
      contacts: since === undefined ? this.#contactsOf(user) : [],
      position: `${this.epoch}.${this.position}`,
    };
  }

  #arrives(session: Session, command: Command): void {
    if (!session.alive) return;
    const fault = this.fault('up', command);
    if (fault === 'cut') return this.cut(session);
    if (fault === 'swallow') return;
    const refusal = this.refuse(command, session.user);
    if (refusal) return this.#deliver(session, refusal);
    this.log.push({ user: session.user, command });
    this.#carryOut(session, command);
    if (fault === 'twice') this.#carryOut(session, command);
  }

  #carryOut(session: Session, command: Command): void {
    const { user } = session;
    const reply = (event: Event) => this.#deliver(session, event);
    const position = `${this.epoch}.${this.position}`;
    switch (command.t) {
      case 'send': {
        const to = this.#other(user, command.to);
        const message = this.#append(user, to, command, session);
        const { id, conversation, seq, time } = message;
        return reply({ t: 'ack', id, conversation, seq, time, position: `${this.epoch}.${this.position}` });
      }
      case 'marker':
        return this.#mark(session, command);
      case 'typing': {
        const to = this.#other(user, command.to);
        return this.tell(to, { t: 'typing', conversation: this.talk(user, to).id, user, on: command.on });
      }
      case 'watch':
        session.watch = new Set(command.users);
        for (const one of command.users) {
          if (this.#presence(one) === 'online' || this.lastSeen.has(one)) reply(this.#presenceOf(one));
        }
        session.watchesContacts = command.contacts === true;
        if (session.watchesContacts) {
          const contacts = this.#contactsOf(user).filter(one => one.state === 'contact');
          const online = contacts.map(one => one.user).filter(one => this.#presence(one) === 'online');
          const more = online.length > this.mostNamed && { more: true };
          reply({ t: 'watching', online: online.slice(0, this.mostNamed), ...more });
        }
        return;
      case 'pins': {
        const messages = (this.talks.get(command.conversation)?.messages ?? []).filter(one => one.pinned);
        const { conversation } = command;
        return reply({ t: 'pins', re: command.rid, conversation, messages: messages.toReversed() });
      }
      case 'edit':
      case 'delete':
      case 'pin':
      case 'react':
        return this.#change(session, command);
      case 'ping':
        return reply({ t: 'pong' });
      case 'bye':
        session.alive = false;
        this.sessions.delete(session);
        return;
      case 'history':
        return this.#history(session, command);
      case 'search': {
        const words = command.query.toLowerCase().split(/\s+/);
        const hits = [...this.talks.values()]
          .filter(one => one.members.includes(user))
          .filter(one => command.conversation === undefined || one.id === command.conversation)
          .flatMap(one => one.messages)
          .filter(one => words.every(word => one.body.toLowerCase().includes(word)))
          .reverse();
        return reply({ t: 'found', re: command.rid, hits: hits.slice(0, command.limit) });
      }
      case 'resume': {
        const since = this.#number(command.position);
        return reply({
          t: 'changes',
          re: command.rid,
          reset: since === undefined,
          ...this.#since(user, since),
        });
      }
      case 'token':
        return reply({ t: 'token_ok', re: command.rid, expires: this.clock.now + 3_600_000 });
      case 'conversations': {
        const talks = [...this.talks.values()].filter(
          one => one.members.includes(user) && one.messages.length > 0,
        );
        const records = talks.map(one => this.record(one, user));
        const conversations = records.filter(
          one => !command.only || (command.only === 'mentions' ? one.mentions : one.unread) > 0,
        );
        return reply({ t: 'conversations', re: command.rid, conversations });
      }
      case 'conversation': {
        const talk = this.talks.get(command.conversation);
        if (!talk) return reply({ t: 'error', re: command.rid, code: 'no_such_conversation', text: '' });
        const { t: _, rid: re, conversation: id, ...change } = command;
        const view = `${user} ${id}`;
        this.views.set(view, { ...this.views.get(view), ...change });
        talk.changed = ++this.position;
        const now = `${this.epoch}.${this.position}`;
        const conversation = this.record(talk, user);
        reply({ t: 'conversation', re, conversation, position: now });
        for (const one of this.sessions) {
          if (one !== session && one.user === user)
            this.#deliver(one, { t: 'conversation', conversation, position: now });
        }
        return;
      }
      case 'contact': {
        const state =
          command.action === 'request' ? 'request_sent' : command.action === 'block' ? 'blocked' : 'none';
        const own = this.contacts.get(user) ?? new Map();
        this.contacts.set(user, own);
        own.set(command.user, state);
        const contact = { ...this.person(command.user), state } as Contact;
        return reply({ t: 'contact', re: command.rid, contact, position });
      }
      case 'contacts':
        return reply({ t: 'contacts', re: command.rid, contacts: this.#contactsOf(user) });
      case 'people':
      case 'profiles': {
        const users = command.t === 'profiles' ? command.users : [...this.names.keys()];
        const people = users.map(one => this.person(one));
        return reply({ t: command.t, re: command.rid, people });
      }
    }
  }

  #append(from: string, to: string, send: Command & { t: 'send' }, by: Session | undefined): Message {
    const talk = this.talk(from, to);
    const old = talk.messages.find(one => one.from === from && one.id === send.id);
    if (old) return old;
    this.position += 1;
    const message: Message = {
      conversation: talk.id,
      seq: talk.messages.length + 1,
      from,
      id: send.id,
      body: send.body,
      time: this.clock.now,
      ...(send.reply_to !== undefined && { reply_to: send.reply_to }),
    };
    talk.messages.push(message);
    talk.positions.push(this.position);
    talk.changed = this.position;
    talk.markers.set(from, { received: message.seq, read: message.seq });
    const event: Event = { t: 'message', ...message, position: `${this.epoch}.${this.position}` };
    for (const session of this.sessions) {
      if (session !== by && talk.members.includes(session.user)) this.#deliver(session, event);
    }
    return message;
  }

  /** Changes a message, notifies all sessions, and answers. */
  #change(session: Session, command: Command & { t: 'edit' | 'delete' | 'pin' | 'react' }): void {
    const { user } = session;
    const { rid: re, conversation, seq } = command;
    const talk = this.talks.get(conversation);
    const old = talk?.messages[seq - 1];
    const refuse = (code: Code) => this.#deliver(session, { t: 'error', re, code, text: '' });
    if (!talk?.members.includes(user)) return refuse('no_such_conversation');
    if (!old || old.deleted) return refuse('no_such_message');
    if (command.t !== 'react' && old.from !== user) return refuse('not_allowed');
    const now = changed(old, command, user, this.clock.now);
    const isNew = JSON.stringify(now) !== JSON.stringify(old);
    const message = isNew ? { ...now, version: this.position + 1 } : old;
    if (isNew) {
      this.position += 1;
      talk.messages[seq - 1] = message;
      talk.changes.set(seq, this.position);
      talk.changed = this.position;
    }
    const position = `${this.epoch}.${this.position}`;
    if (command.t === 'react') {
      const reactions = message.reactions?.map(({ reaction, count }) => ({ reaction, count })) ?? [];
      const { reaction, on } = command;
      const version = message.version ?? 0;
      const put = { reaction, on };
      const counts = { t: 'counts', conversation, seq, version, reactions, by: user, put, position } as const;
      for (const one of this.sessions) {
        if (one !== session && talk.members.includes(one.user)) this.#deliver(one, counts);
      }
      return this.#deliver(session, { ...counts, re });
    }
    for (const one of this.sessions) {
      if (one === session || !talk.members.includes(one.user)) continue;
      const seen = one.user === user ? this.#seenBy(user, message) : message;
      this.#deliver(one, { t: 'update', message: seen, by: user, position });
    }
    this.#deliver(session, { t: 'update', re, message: this.#seenBy(user, message), by: user, position });
  }

  #seenBy(user: string, message: Message): Message {
    if (!message.reactions) return message;
    const reactions = message.reactions.map(one => (one.users.includes(user) ? { ...one, mine: true } : one));
    return { ...message, reactions };
  }

  #mark(session: Session, command: Command & { t: 'marker' }): void {
    const talk = this.talks.get(command.conversation);
    if (!talk) return;
    const { user } = session;
    const old = talk.markers.get(user) ?? { received: 0, read: 0 };
    const read = Math.max(old.read, 'read' in command ? command.read : 0);
    const received = Math.max(old.received, read, 'received' in command ? command.received : 0);
    if (read === old.read && received === old.received) return;
    this.position += 1;
    talk.changed = this.position;
    talk.markers.set(user, { received, read });
    const unread = talk.messages.filter(one => one.from !== user && one.seq > read).length;
    const position = `${this.epoch}.${this.position}`;
    for (const one of this.sessions) {
      if (one === session || !talk.members.includes(one.user)) continue;
      const own = one.user === user && { unread };
      this.#deliver(one, { t: 'marker', conversation: talk.id, user, received, read, ...own, position });
    }
  }

  #history(session: Session, command: Command & { t: 'history' }): void {
    const talk = this.talk(session.user, this.#other(session.user, command.to));
    const { rid: re, before, after, limit = 50 } = command;
    if (talk.messages.length === 0) {
      return this.#deliver(session, { t: 'error', re, code: 'no_such_conversation', text: '' });
    }
    const found = talk.messages.filter(one => one.seq < (before ?? Infinity) && one.seq > (after ?? 0));
    const taken = after === undefined ? found.slice(-limit) : found.slice(0, limit);
    const messages = taken.map(one => this.#seenBy(session.user, one));
    const more = taken.length < found.length;
    this.#deliver(session, { t: 'history', re, conversation: talk.id, messages, more });
  }

  #deliver(session: Session, event: Event): void {
    session.busyUntil = Math.max(session.busyUntil, this.clock.now + this.latency());
    // The receiver gets a copy, as over a network.
    const copy = () => JSON.parse(JSON.stringify(event)) as Event;
    this.clock.timer(session.busyUntil - this.clock.now, () => {
      if (!session.alive || session.mute) return;
      const fault = this.fault('down', event);
      if (fault === 'cut') return this.cut(session);
      session.listener.event(copy());
      if (fault === 'twice') session.listener.event(copy());
    });
  }

  #other(user: string, to: SendTo): string {
    if ('user' in to) return to.user;
    if ('page' in to) return '';
    const members = this.talks.get(to.conversation)?.members ?? [];
    return members.find(one => one !== user) ?? '';
  }

  #number(position: string | undefined): number | undefined {
    const [epoch, number] = position?.split('.') ?? [];
    return epoch === this.epoch ? Number(number) : undefined;
  }

  #presence(user: string): 'online' | 'offline' {
    return [...this.sessions].some(one => one.user === user) ? 'online' : 'offline';
  }

  #contactsOf(user: string): Contact[] {
    return [...(this.contacts.get(user) ?? [])].map(([one, state]) => ({ ...this.person(one), state }));
  }

  person(user: string): Person {
    return { user, name: this.names.get(user) ?? user.toUpperCase() };
  }

  record(talk: Talk, user: string): Conversation {
    const other = talk.members.find(one => one !== user) ?? user;
    const mine = talk.markers.get(user) ?? { received: 0, read: 0 };
    const theirs = talk.markers.get(other) ?? { received: 0, read: 0 };
    const unread = talk.messages.filter(one => one.from !== user && one.seq > mine.read);
    const last = talk.messages.at(-1);
    return {
      conversation: talk.id,
      with: this.person(other),
      ...(last && { last: this.#seenBy(user, last) }),
      received: mine.received,
      read: mine.read,
      their_received: theirs.received,
      their_read: theirs.read,
      unread: unread.length,
      mentions: unread.filter(one => one.body.includes(`@${user}`)).length,
      muted_until: 0,
      pinned: false,
      archived: false,
      active: last?.time ?? 0,
      ...this.views.get(`${user} ${talk.id}`),
    };
  }
}

function changed(
  old: Message,
  command: Command & { t: 'edit' | 'delete' | 'pin' | 'react' },
  user: string,
  now: number,
): Message {
  if (command.t === 'edit')
    return old.body === command.body ? old : { ...old, body: command.body, edited: now };
  if (command.t === 'pin') {
    const { pinned = false, ...rest } = old;
    return pinned === command.on ? old : { ...rest, ...(command.on && { pinned: true }) };
  }
  const { reactions = [], ...rest } = old;
  if (command.t === 'delete') return { ...rest, body: '', deleted: true };
  const before = reactions.find(one => one.reaction === command.reaction);
  const others = (before?.users ?? []).filter(one => one !== user);
  const users =
    command.on === before?.users.includes(user) ? before.users : command.on ? [...others, user] : others;
  const after = { reaction: command.reaction, count: users.length, users };
  const all = before ? reactions.map(one => (one === before ? after : one)) : [...reactions, after];
  const left = all.filter(one => one.count > 0);
  return left.length > 0 ? { ...rest, reactions: left } : rest;
}

/** An unsigned token of this user. */
export function tokenOf(sub: string, exp?: number): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ sub, ...(exp !== undefined && { exp }) })}.x`;
}

function subject(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;
}
