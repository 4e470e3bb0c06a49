// One tab's copy of the client's state: changes go in, and changed topics come out. It has no clock and no network.

import type { Action, Change } from './change.ts';
import { ChangedTopics } from './changed_topics.ts';
import {
  type ClientEvents,
  type ConversationKey,
  direct,
  type KnownPerson,
  type PagedList,
  type Status,
  type Topic,
  topicOf,
} from './client.ts';
import type { ConversationState } from './conversation_state.ts';
import { Conversations, FIRST_PAGES, keyOfRecord } from './conversations.ts';
import { drawn } from './message_view.ts';
import { type ChangeCommand, PendingChanges } from './pending_changes.ts';
import { People } from './people.ts';
import { paging, type Snapshot } from './snapshot.ts';
import { Typing } from './typing.ts';
import { Unsent } from './unsent.ts';
import {
  type CallsFrom,
  COMES_BACK,
  type Code,
  type Command,
  type Contact,
  type Conversation,
  type Event,
  type Gap,
  type Left,
  type Limits,
  type Message,
  type Notice,
  type Only,
  type Renamed,
  type SetPresence,
  type SiteRole,
  type SiteState,
  type ThreadCount,
  type Welcome,
} from './wire.ts';

type Happened = { [K in keyof ClientEvents]: [K, ClientEvents[K]] }[keyof ClientEvents];

export class Replica {
  position: string | undefined;
  presence: SetPresence = 'online';
  open = false;
  role: SiteRole | undefined;
  /** The users whose calls ring. */
  calls: CallsFrom = 'contacts';
  site: SiteState | undefined;
  notices: readonly Notice[] = [];
  limits: Limits | undefined;
  guestToken: string | undefined;
  status: Status = { state: 'idle', shared: false };

  #changed = new ChangedTopics();
  #happened: Happened[] = [];
  #me: string | undefined;
  #welcomed = false;

  readonly people = new People(this.#changed, () => this.#me);
  readonly written = new Unsent(this.#changed);
  readonly pending = new PendingChanges(this.#changed);
  readonly typing = new Typing(this.#changed);
  readonly conversations = new Conversations(
    this.#changed,
    this.written,
    this.typing,
    () => this.#me,
    this.people.contacts,
  );

  /** The signed-in user. Undefined before the first welcome. */
  get me(): KnownPerson | undefined {
    return this.#me === undefined ? undefined : this.people.byUser.get(this.#me);
  }

  /** Topics that changed since the last call. */
  takeChanged(): Set<Topic> {
    return this.#changed.take();
  }

  takeHappened(): Happened[] {
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
        return this.people.absent(change.users);
      case 'unwatched':
        return this.people.unwatched();
      case 'told':
        return this.conversations.told(change);
    }
  }

  known(key: ConversationKey): ConversationState {
    return this.conversations.known(key);
  }

  snapshot(): Snapshot {
    const { me, conversations, written } = this;
    return {
      v: 1,
      ...(this.position !== undefined && { position: this.position }),
      ...(me && { me }),
      presence: this.presence,
      open: this.open,
      ...(this.role && { role: this.role }),
      ...(this.calls !== 'contacts' && { calls: this.calls }),
      ...(this.site && { site: this.site }),
      notices: this.notices,
      ...(this.limits && { limits: this.limits }),
      conversations: [...conversations.byKey.values()].map(one => ({ ...one })),
      main: conversations.pages.main,
      archived: conversations.pages.archived,
      ...this.people.snapshot(),
      queue: [...written.queue],
      pending: [...this.pending.all],
      drafts: [...written.drafts],
      unsaved: [...written.unsaved],
      status: this.status,
      ...(this.guestToken !== undefined && { guestToken: this.guestToken }),
    };
  }

  /** Replaces the state by a snapshot of the leader or of the cache. */
  restore(from: Snapshot): void {
    this.#forgetAll();
    this.position = from.position;
    this.#me = from.me?.user;
    if (from.me) this.people.byUser.set(from.me.user, from.me);
    this.presence = from.presence;
    this.open = from.open;
    this.role = from.role;
    this.calls = from.calls ?? 'contacts';
    this.site = from.site;
    this.notices = from.notices ?? [];
    this.limits = from.limits;
    this.guestToken = from.guestToken;
    for (const one of from.conversations) this.conversations.keep({ ...one });
    this.conversations.pages = { ...FIRST_PAGES, main: from.main, archived: from.archived };
    this.people.restore(from);
    this.written.restore(from.queue, from.drafts, from.unsaved ?? []);
    this.pending.restore(from.pending ?? []);
    this.#status(from.status);
    this.#changed.add('me');
  }

  // -- events of the server --

  #event(event: Event, { request, now }: { request?: Command; now: number }): void {
    const { people, conversations } = this;
    // Set first: no other code runs until the whole event is applied.
    if ('position' in event) this.position = event.position;
    switch (event.t) {
      case 'welcome':
        return this.#welcome(event, now);
      case 'ack':
        return conversations.acknowledged(event);
      case 'error':
        if (event.id !== undefined) this.#refused(event.id, event.code);
        else if (isChange(request)) this.#undone(request, event.code);
        return;
      case 'message':
        if (conversations.message(event, 'live') && event.from !== this.#me) this.#announce(event);
        return;
      case 'update':
        if (isChange(request)) this.#answered(request);
        this.#changedMessage(event.message);
        return conversations.updated(event.message, event.by);
      case 'counts': {
        if (isChange(request)) this.#answered(request);
        const key = conversations.counted(event);
        if (key && !event.pinned) this.#happened.push(['unpinned', { key, seq: event.seq }]);
        return;
      }
      case 'renamed':
        return this.#renamed(event.renamed);
      case 'person':
        return people.met(event.person);
      case 'room':
        return conversations.room(event.conversation, event.room);
      case 'member_count': {
        for (const one of event.joined ?? []) people.met(one);
        const key = conversations.sized(event.conversation, event.members);
        const users = event.joined?.map(one => one.user);
        if (key && users) this.#happened.push(['joined', { key, users }]);
        return;
      }
      case 'left': {
        const key = conversations.left(event.conversation);
        if (key !== undefined && event.reason !== 'left')
          this.#happened.push(['left', { key, reason: event.reason }]);
        return;
      }
      case 'member':
        return people.met(event.member);
      case 'members':
        for (const one of event.members) people.met(one);
        return;
      case 'rooms':
        for (const one of event.rooms) conversations.list(keyOfRecord(one), one.room);
        return;
      case 'marker':
        return conversations.marker(event);
      case 'typing': {
        if (event.user === this.#me) return;
        const key = conversations.keysById.get(event.conversation) ?? direct(event.user);
        return this.typing.says(key, event.user, event.on, now);
      }
      case 'call':
      case 'group_call':
        this.#happened.push([event.t, event] as Happened);
        return;
      case 'presence':
        if (event.user === this.#me) return;
        return people.shows(event.user, event.presence, event.last_seen);
      case 'watching':
        return people.watching(event);
      case 'contact': {
        const { re, contact } = event;
        const before = people.contacts.get(contact.user);
        people.contact(contact);
        if (contact.state === 'contact') conversations.agreed(contact.user);
        // A new own name of a contact is no news.
        if (
          re === undefined &&
          contact.state !== before &&
          /^(request_received|contact)$/.test(contact.state)
        ) {
          this.#happened.push(['contact', contact]);
        }
        return;
      }
      case 'contacts':
        if (request?.t !== 'contacts') return;
        for (const one of event.contacts) people.contact(one);
        people.contactPages = paging(event.next);
        this.#changed.add('contacts');
        return;
      case 'people':
      case 'profiles':
        for (const one of event.people) people.met(one);
        return;
      case 'conversations':
        if (request?.t !== 'conversations') return;
        for (const one of event.conversations) this.#upsert(one);
        conversations.pages[listAsked(request)] = paging(event.next);
        this.#changed.add(topicOf(listAsked(request))).add('requests');
        return;
      case 'conversation': {
        const key = keyOfRecord(event.conversation);
        const ours = request?.t === 'conversation' && request.draft !== undefined;
        if (ours) this.written.unsaved.add(key);
        this.#upsert(event.conversation);
        if (ours) this.written.saved(key, event.conversation.draft ?? '');
        return;
      }
      case 'report':
        this.#happened.push(['report', event.report]);
        return;
      case 'notice':
        return this.#noticed(event.notice);
      case 'held': {
        const { conversation, user } = event.held;
        const key = user === undefined ? conversations.keyOf({ conversation }) : direct(user);
        return this.written.held(key, event.held);
      }
      case 'site':
        this.site = isUsual(event.site) ? undefined : event.site;
        this.#changed.add('me');
        return;
      case 'notices':
        this.notices = event.notices;
        this.#changed.add('notices');
        return;
      case 'history':
        // A page of a thread has gaps, so it is no stretch.
        if (request?.t !== 'history' || (request.thread ?? request.since) !== undefined) return;
        return conversations.history(event, request);
      case 'changes':
        if (event.reset) this.#forgetAll();
        this.#difference(event, !event.reset);
        if (event.reset) this.#page(event);
    }
  }

  #welcome(welcome: Welcome, now: number): void {
    const other = this.#me !== welcome.me.user;
    if (!welcome.resumed || other) this.#forgetAll();
    if (this.#me !== undefined && other) {
      this.written.clear();
      this.pending.clear();
      this.people.byUser.clear();
    }
    const again = this.#welcomed;
    this.#welcomed = true;
    this.#me = welcome.me.user;
    this.people.met(welcome.me);
    this.presence = welcome.presence;
    this.open = welcome.open;
    this.role = welcome.role;
    this.calls = welcome.calls ?? 'contacts';
    this.site = welcome.site;
    // The server sends valid notices again after the welcome.
    this.notices = [];
    this.#changed.add('notices');
    this.limits = welcome.limits;
    this.guestToken = welcome.guest_token ?? (welcome.me.guest ? this.guestToken : undefined);
    this.#changed.add('me');
    // The server sends the presence of watched users again; the present values may be hours old.
    this.people.forgetPresences();
    this.#difference(welcome, welcome.resumed && again);
    if (!welcome.resumed) this.#page(welcome);
    this.typing.lapse(now);
  }

  #page(first: { conversations_next?: string; contacts_next?: string }): void {
    this.conversations.pages.main = paging(first.conversations_next);
    this.people.contactPages = paging(first.contacts_next);
  }

  /** `announce`: emit `message` events, as after a short absence. After a long one, unread counts are enough. */
  #difference(
    from: {
      conversations: Conversation[];
      messages: Message[];
      updates?: Message[];
      left?: Left[];
      threads?: ThreadCount[];
      renamed?: Renamed[];
      gaps: Gap[];
      contacts: Contact[];
    },
    announce: boolean,
  ): void {
    const { conversations } = this;
    for (const one of from.renamed ?? []) this.#renamed(one);
    for (const one of from.gaps) if (one.forget) conversations.forgetMessages(one.conversation);
    const fresh = from.messages.filter(one => one.from !== this.#me && !conversations.has(one));
    const counted = new Set(from.conversations.map(one => one.conversation));
    for (const one of from.conversations) this.#upsert(one);
    for (const one of from.messages)
      conversations.message(one, counted.has(one.conversation) ? 'counted' : 'missed');
    for (const one of from.updates ?? []) conversations.updated(one, this.#me);
    for (const one of from.threads ?? []) conversations.replied(one);
    for (const one of from.left ?? []) conversations.left(one.conversation);
    for (const one of from.conversations) conversations.recount(one);
    for (const one of from.contacts) this.people.contact(one);
    for (const one of announce ? fresh : []) this.#announce(one);
    this.#changed.lists().add('contacts');
  }

  #renamed(one: Renamed): void {
    this.people.byUser.delete(one.was);
    this.people.met(one);
    this.conversations.renamed(one);
  }

  #upsert(record: Conversation): void {
    if (record.with) this.people.met(record.with);
    if (record.requested_by) this.people.met(record.requested_by);
    this.conversations.upsert(record);
  }

  #announce(message: Message): void {
    const key = this.conversations.keysById.get(message.conversation);
    if (key === undefined || message.seq <= this.known(key).read) return;
    // Emit nothing for messages of strangers and of blocked users: they cause no sound and no toast.
    if (this.known(key).request === 'received' || this.people.contacts.get(message.from) === 'blocked')
      return;
    this.#happened.push(['message', { key, message: drawn(message, this.#me), first: false }]);
  }

  #changedMessage(message: Message): void {
    const key = this.conversations.keysById.get(message.conversation);
    if (key !== undefined) this.#happened.push(['changed', { key, message: drawn(message, this.#me) }]);
  }

  #noticed(notice: Notice): void {
    const rest = this.notices.filter(
      one => one.kind === 'warning' || notice.kind === 'warning' || one.conversation !== notice.conversation,
    );
    this.notices = notice.kind === 'unmute' ? rest : [...rest, notice];
    this.#changed.add('notices');
  }

  #refused(id: string, code: Code): void {
    // The leader retries a message that may succeed later, so it stays in the queue.
    if ((COMES_BACK[code] ?? 'later') === 'never') this.written.setFailed(id, code);
  }

  #answered(command: ChangeCommand): void {
    const key = this.conversations.keysById.get(command.conversation);
    if (key !== undefined) this.pending.answered(key, command);
  }

  /** Undoes a change that was refused for good. The leader retries other ones, as it does for messages. */
  #undone(command: ChangeCommand, code: Code): void {
    const key = this.conversations.keysById.get(command.conversation);
    if (key === undefined || (COMES_BACK[code] ?? 'later') !== 'never') return;
    const undone = this.pending.answered(key, command);
    if (undone) this.#happened.push(['refused', { key, what: undone.what, code }]);
  }

  // -- actions of the member --

  #action(action: Action): void {
    switch (action.a) {
      case 'queue':
        // A tab may repeat an action that was completed long ago.
        if (this.conversations.hasOwn(action.key, action.id)) return;
        this.written.enqueue(action, this.limits?.body_bytes);
        return this.conversations.wroteIn(action.key, action.time);
      case 'retry':
        return this.written.setFailed(action.id, undefined);
      case 'discard':
        return this.written.unqueue(action.id);
      case 'change': {
        const { a: _, ...pending } = action;
        return this.pending.add(pending);
      }
      case 'draft':
        return this.written.write(action.key, action.text, this.known(action.key).draft);
      case 'seen':
        return this.conversations.seen(action.key, action.seq);
      case 'presence':
        this.presence = action.set;
        this.#changed.add('me');
        return;
      case 'typing':
        return;
    }
  }

  #status(status: Status): void {
    const before = this.status;
    this.status = status;
    this.#changed.add('status');
    if ((before.state === 'online') === (status.state === 'online')) return;
    this.people.allPresencesChanged();
    this.typing.clear();
  }

  /** Drops all state that the server sends again. Text that the member wrote stays. */
  #forgetAll(): void {
    for (const key of this.written.drafts.keys()) this.#changed.add(`draft:${key}`);
    this.conversations.clear();
    this.people.forgetContacts();
    this.typing.clear();
  }
}

function listAsked({ archived, only }: { archived?: boolean; only?: Only }): PagedList {
  return archived ? 'archived' : (only ?? 'main');
}

function isUsual({ access, raid_until }: SiteState): boolean {
  return access === 'open' && raid_until === undefined;
}

function isChange(request: Command | undefined): request is ChangeCommand {
  return request !== undefined && /^(edit|delete|react)$/.test(request.t);
}
