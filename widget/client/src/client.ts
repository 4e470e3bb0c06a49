// The interface of Kith for user interfaces: values to read, topics to watch, things to do.

import type { MessageExtras } from './message_extras.ts';
import type { Ask } from './request.ts';
import type {
  AuditEntry,
  CallAction,
  CallEntry,
  CallsFrom,
  Code,
  Contact,
  ContactAction,
  ContactState,
  Event,
  FilterAct,
  FilterHit,
  Forwarded,
  Invitation,
  LeftReason,
  Limits,
  Link,
  Member,
  MemberAction,
  Moderate,
  Notice,
  Person,
  Poll,
  Presence,
  Preview,
  PushSubscription as PushSubscribing,
  QuietHours,
  Replies,
  Report,
  ReportReason,
  ReportState,
  RequestAnswer,
  RequestState,
  Role,
  RoomKind,
  SentFile,
  SetPresence,
  SiteRole,
  SiteState,
  Sticker,
} from './wire.ts';

/**
 * One member of one site in this browser.
 *
 * Reading is cheap and gives the same object until that thing has changed, so values can be compared with `===`
 * and drawn from `subscribe` alone. Nothing here throws for reasons of the network: what fails says so in its
 * state, and promises of requests reject with a `RequestError`.
 */
export interface Client {
  /** Origin and path prefix of the server, without a slash at the end. */
  readonly server: string;
  // -- reading --

  status(): Status;
  /** Undefined until the first welcome. */
  me(): Me | undefined;
  totals(): Totals;
  /** Keys of the conversation list: pinned first, then by last activity. Archived ones are in their own list. */
  conversations(list?: ListName): ConversationList;
  /** Also for a key that has no conversation yet (`direct('ana')`): then an empty one with that person. */
  conversation(key: ConversationKey): Conversation;
  /** The newest window without holes of a conversation. Empty until `open` has loaded it. */
  timeline(key: ConversationKey): Timeline;
  /** Contacts, requests and blocked users, by name. */
  contacts(): ContactList;
  contact(user: string): ContactState;
  /** Always gives somebody: until the profile is known, the name is the user id. Asks for what it does not know. */
  person(user: string): KnownPerson;
  /** `unknown` whenever the own connection is lost. */
  presence(user: string): PresenceView;
  /** The users who are writing in this conversation now (user ids). */
  typing(key: ConversationKey): readonly string[];
  /** Of a key that the server does not know, as `threadDraft` makes one, the draft stays in this browser. */
  draft(key: ConversationKey): string;
  /** Moderators' notices to the member: warnings and mutes. */
  notices(): readonly Notice[];
  /** Of all tabs of this browser it is this one where the member is, or was last. */
  inFront(): boolean;

  /** Calls `listener` after the topic has changed, at most once per turn of the event loop. Returns the way out. */
  subscribe(topic: Topic, listener: () => void): () => void;
  /** Things that happen once, for sounds, announcements and notifications. */
  on<K extends keyof ClientEvents>(name: K, listener: (detail: ClientEvents[K]) => void): () => void;

  // -- doing --

  /** Begins (again) after `stop`, `stopped` or creation. Also wakes a connection that waits for its retry. */
  connect(): void;
  /** Leaves on purpose: presence ends at once, and nothing reconnects. */
  stop(): void;
  /** The site's new token, where the page brings tokens by itself. */
  setToken(token: string): void;
  /** The member has signed out on the site: stops, and nothing that was theirs stays in memory or storage. */
  forget(): void;
  /** Stops, forgets listeners, and lets go of everything. What this browser keeps stays, and so does a guest. */
  close(): void;
  /** As `close`, and forgets the guest. */
  destroy(): void;

  /** The conversation is on the screen: loads its newest page, fills holes. Call the returned function when it goes. */
  open(key: ConversationKey): () => void;
  /** One page further back; no effect while one is loading or where there is no more. */
  loadOlder(key: ConversationKey): void;
  /**
   * The member has seen the messages `from` to `seq` (visible, page in front). Without `from`: everything up to `seq`, as
   * in "mark as read". Moves the read marker forward and answers true, unless unread messages before `from` would be
   * marked as read with them. Debounced.
   */
  seen(key: ConversationKey, seq: number, from?: number): boolean;
  /**
   * Queues a message, also while offline, and returns its id. The body is sent trimmed at its end. `files` were brought
   * for this conversation (`upload.ts`); with some the body may be empty.
   */
  send(
    key: ConversationKey,
    body: string,
    replyTo?: number,
    files?: readonly SentFile[],
    bears?: MessageExtras,
  ): string;
  /** Votes, and what is asked about threads; fetched when it is used first. */
  rich(): Promise<Rich>;
  /** Access data for a request beside the session. `fresh`: the server refused the last token. */
  access(fresh?: boolean): Promise<Access>;
  /** Tries a failed message again, with the same id. */
  retry(id: string): void;
  /** Takes a failed or still waiting message out of the queue. */
  discard(id: string): void;
  /**
   * Changes one's own message. Shown at once; also while offline, then it waits and goes out with the connection. What the
   * server refuses is as it was, and said by `refused`. So also the next two.
   */
  edit(key: ConversationKey, seq: number, body: string): void;
  /** Deletes a message for all. */
  remove(key: ConversationKey, seq: number): void;
  /** One's own reaction, an emoji, to a message. */
  react(key: ConversationKey, seq: number, reaction: string, on: boolean): void;
  /**
   * Brings this message into the timeline, with those around it: from then on the timeline is that stretch, until it meets the
   * newest one. Fulfilled with whether that stretch is there; the conversation must be open. A stretch is asked for once, however
   * often this is called meanwhile, and where nothing changes no topic does. `unread`:
   * the first unread message, and the line of the unread stands there. Without a seq: back to the newest.
   */
  show(key: ConversationKey, seq?: number | 'unread'): Promise<boolean>;
  /** One page further down, where the timeline is not the newest stretch. */
  loadNewer(key: ConversationKey): void;
  setDraft(key: ConversationKey, text: string): void;
  /** Call on each input; it tells the others no more often than needed. `false` when the field was emptied. */
  setTyping(key: ConversationKey, on: boolean): void;
  setPresence(set: SetPresence): void;
  /**
   * These users are on the screen; their presence is wanted, or also when they were last here. Sets of several callers
   * are joined. Of contacts `watchContacts` tells the presence already.
   */
  watch(users: readonly string[], what?: 'presence' | 'last_seen'): () => void;
  /** An interface is on the screen: the presence of all contacts is wanted, now and as the list changes. */
  watchContacts(): () => void;
  changeContact(action: ContactAction, user: string): Promise<Contact>;
  changeConversation(key: ConversationKey, change: ConversationChange): Promise<void>;
  loadContacts(): void;
  loadConversations(list?: ListName): void;
  /** A page of the directory. `query`: start of a word of the name. */
  people(query?: string, after?: string): Promise<{ people: Person[]; next?: string }>;
  /** Keeps a message at hand above its conversation, or not any more. */
  pin(key: ConversationKey, seq: number, on: boolean): Promise<void>;
  /** Pinned messages of a conversation, newest first. */
  pins(key: ConversationKey): Promise<readonly Message[]>;
  /** Messages that have all these words, newest first; the last word may be the start of one. */
  search(query: string, where?: { in?: ConversationKey; after?: string }): Promise<Found>;

  /** Says something of a call; `Calls` (calls.ts) knows what, and when. */
  call(action: CallAction): Promise<CallEvent>;

  /** There is time: fetches the code of what a member may soon ask for. */
  prepare(): void;

  /** For lazy parts, which know their own commands: says one, and is fulfilled with what answers it. */
  ask: Ask;

  // -- notifications --

  /** Notifications while the member is away, after this change. */
  notifications(change?: NotificationsChange): Promise<NotificationSettings>;

  // -- rooms --

  /** A page of the site's public rooms. `query`: start of the name. */
  rooms(query?: string, after?: string): Promise<{ rooms: ListedRoom[]; next?: string }>;
  createRoom(room: { name: string; kind: RoomKind; topic?: string }): Promise<ConversationKey>;
  changeRoom(key: ConversationKey, change: RoomChange): Promise<void>;
  join(key: ConversationKey): Promise<void>;
  leave(key: ConversationKey): Promise<void>;
  /** A page of who is in it: owners, moderators, then all others by name. */
  members(
    key: ConversationKey,
    query?: string,
    after?: string,
    /** Those who are muted in it or banned from it instead; only for owners and moderators. */
    sanctioned?: boolean,
  ): Promise<{ members: Member[]; next?: string }>;
  /** Only for owners and moderators. */
  changeMember(
    key: ConversationKey,
    user: string,
    action: MemberAction,
    terms?: MemberTerms,
  ): Promise<Member>;
  /** Ways into rooms for whoever has a link; fetched when they are used first. */
  invitations(): Promise<Invitations>;

  // -- order --

  /** Takes a stranger's request, or puts it away; they are told of the first only. */
  answerRequest(key: ConversationKey, answer: RequestAnswer): Promise<void>;
  /** Tells the site's moderators. Fulfilled with the number of the report. */
  report(target: ReportTarget, reason: ReportReason, text?: string): Promise<number>;
  /** The member has read the warnings. */
  noticesSeen(): Promise<void>;
  /** For moderators: a page, newest first. */
  reports(state?: ReportState, after?: string): Promise<{ reports: Report[]; next?: string }>;
  /** For moderators. Fulfilled with the report as it is now, where it was about one. */
  moderate(act: ModerationAction): Promise<Report | undefined>;
  /** For moderators: what was done, newest first. */
  audit(after?: string): Promise<{ entries: AuditEntry[]; next?: string }>;
  /** For moderators: what the site's filters would do with this text. */
  testFilter(body: string): Promise<FilterTest>;
  /** For admins: the settings of the site, after this merge patch of them. */
  settings(patch?: SiteSettings): Promise<SiteSettings>;
}

/** Names and values, as `kith site show` has them. */
export type SiteSettings = Record<string, unknown>;

export interface FilterTest {
  /** Undefined: it would be sent as any other. */
  act?: FilterAct;
  hits: readonly FilterHit[];
}

/** Things that can be reported: a message, a person, or a room. */
export type ReportTarget =
  | { key: ConversationKey; seq: number }
  | { user: string }
  | { room: ConversationKey };

export type ModerationAction = Omit<Moderate, 'rid'>;

export interface Access {
  site: string;
  token: string;
}

/** Names a conversation for good, before and after it exists on the server. */
export type ConversationKey = string & { readonly _: 'ConversationKey' };

/** The direct conversation with a user. */
export function direct(user: string): ConversationKey {
  return `@${user}` as ConversationKey;
}

/** The room of this id. */
export function room(id: string): ConversationKey {
  return `#${id}` as ConversationKey;
}

/** The room of a page of the site, whether it exists yet or not. */
export function pageRoom(page: string): ConversationKey {
  return `~${page}` as ConversationKey;
}

export function isRoom(key: ConversationKey): boolean {
  return key[0] !== '@';
}

/** `requests`: begun by strangers, and not answered; they are in no other. `unread` and `mentions` are of `main`. */
export type ListName = 'main' | 'archived' | 'requests' | 'unread' | 'mentions';

/** Those that the server knows: requests are among the others there. */
export type PagedList = Exclude<ListName, 'requests'>;

export function pagesOf(list: ListName): PagedList {
  return list === 'requests' ? 'main' : list;
}

/** The topic that changes with a list. */
export function topicOf(list: ListName): Topic {
  return list === 'main' ? 'conversations' : list;
}

/** The topics of `subscribe`. */
export type Topic =
  | 'status'
  | 'me'
  | 'totals'
  | 'conversations'
  | 'archived'
  | 'requests'
  | 'notices'
  | 'unread'
  | 'mentions'
  | 'contacts'
  | `conversation:${ConversationKey}`
  | `timeline:${ConversationKey}`
  | `typing:${ConversationKey}`
  | `draft:${ConversationKey}`
  /** Name, avatar and contact state. */
  | `person:${string}`
  | `presence:${string}`
  /** Of anybody. */
  | 'presences';

export interface ClientEvents {
  /**
   * A message of somebody else arrived now (not from history, not doubled). `first` is true in one tab of the
   * browser only, the one to make a sound or show it: where the member is, or was last.
   */
  message: { key: ConversationKey; message: Message; first: boolean };
  /** Somebody asked to become a contact, or accepted. */
  contact: Contact;
  totals: Totals;
  /** One is no member of a room any more, and it was somebody else's doing. */
  left: { key: ConversationKey; reason: LeftReason };
  /** Somebody joined a room of this member; not told in large rooms. */
  joined: { key: ConversationKey; users: readonly string[] };
  /** Of a call, in every tab: also answers to what another tab has said. */
  call: CallEvent;
  /** An event of a room's call. */
  group_call: GroupCallEvent;
  /** For moderators: a report is new, or is another one now. */
  report: Report;
  /** A message is another one now, whether it is in a timeline here or not. */
  changed: { key: ConversationKey; message: Message };
  /** It is not pinned, or no longer, whether it is in a timeline here or not. */
  unpinned: { key: ConversationKey; seq: number };
  /** A change of a message was refused for good, and is undone. */
  refused: { key: ConversationKey; what: 'edit' | 'delete' | 'react'; code: Code };
}

export type CallEvent = Event & { t: 'call' };
export type GroupCallEvent = Event & { t: 'group_call' };

export interface Status {
  /**
   * `idle`: not begun. `connecting`: first tries. `online`. `waiting`: connection lost or refused for now, comes
   * back at `retryAt`. `offline`: the browser says there is no network. `stopped`: does not come back by itself.
   */
  state: 'idle' | 'connecting' | 'online' | 'waiting' | 'offline' | 'stopped';
  /** Why it is waiting or stopped, where the server said so. */
  code?: Code;
  /** The reason that a moderator or the owner gave, and Unix milliseconds of the end. */
  reason?: string;
  until?: number;
  /** Milliseconds since the Unix epoch of the next try. */
  retryAt?: number;
  transport?: TransportName;
  /** Another tab holds the connection. */
  shared: boolean;
}

export type TransportName = 'websocket' | 'stream' | 'sse' | 'poll';

export interface Me extends KnownPerson {
  presence: SetPresence;
  /** All members of the site see each other; otherwise only contacts do. */
  open: boolean;
  /** On the whole site, where it is more than a member. */
  role?: SiteRole;
  /** The users whose calls ring. */
  calls: CallsFrom;
  /** Write access of the site, if it is limited or there is a raid. */
  site?: SiteState;
  limits: Limits;
}

export interface KnownPerson {
  user: string;
  name: string;
  avatar?: string;
  guest: boolean;
}

export interface PresenceView {
  presence: Presence;
  lastSeen?: number;
}

export interface Totals {
  unread: number;
  mentions: number;
  /** Conversations with something unread, muted ones left out. */
  conversations: number;
  /** Contact requests that wait for an answer. */
  requests: number;
  /** Conversations that strangers have begun, and that wait for one. They count nowhere else. */
  strangers: number;
}

export interface ConversationList {
  keys: readonly ConversationKey[];
  /** More can be loaded with `loadConversations`. */
  more: boolean;
  loading: boolean;
  /** The last page could not be loaded. */
  failed: boolean;
}

export interface ContactList {
  contacts: readonly Contact[];
  more: boolean;
  loading: boolean;
  /** The last page could not be loaded. */
  failed: boolean;
}

export interface Conversation {
  /** Another than was asked for, where the other one goes by another id now. */
  key: ConversationKey;
  /** False until a message exists. */
  exists: boolean;
  /** In a room: its name and picture, to be drawn like those of a person. */
  with: KnownPerson;
  /** The room; without a `role` the user is not a member. Undefined if the room is unknown so far. */
  room?: RoomView;
  last?: Message;
  unread: number;
  /** The read marker: everything up to this seq. */
  readUpTo: number;
  mentions: number;
  /** Unix milliseconds; 0: not muted. */
  mutedUntil: number;
  pinned: boolean;
  archived: boolean;
  /** It waits for an answer: one's own, or the other one's. */
  request?: RequestState;
  /** The user who asks this user into the room, if `request` is `received` and it is a room. */
  requestedBy?: string;
  /** Shown as unread, until it is opened or read on. */
  markedUnread: boolean;
  /** Unix milliseconds of the last activity. */
  active: number;
  draft: string;
}

export interface RoomView {
  name: string;
  kind: RoomKind;
  role?: Role;
  members: number;
  topic?: string;
  page?: string;
  /** Milliseconds between two messages of a member; 0: no slow mode. */
  slowMs: number;
  frozen: boolean;
  /** Members that it takes at most; 0: as many as the site lets it. */
  maxMembers: number;
}

export interface NotificationSettings {
  /** The key that a browser needs to subscribe. Undefined: the server sends no push notifications. */
  key?: string;
  /** How many browsers are told. */
  devices: number;
  quiet?: QuietHours;
  /** Notices show what was written. */
  bodies: boolean;
  /** Missed messages are mailed after so many minutes; 0: never. Undefined: there is no address, or no mail. */
  mail?: { address: string; after: number };
}

/** Fields that are left out stay. */
export interface NotificationsChange {
  subscribe?: PushSubscribing;
  /** An endpoint. */
  unsubscribe?: string;
  /** Equal minutes: no quiet hours. */
  quiet?: QuietHours;
  bodies?: boolean;
  /** Minutes; 0: never. */
  mail?: number;
}

export interface ListedRoom {
  key: ConversationKey;
  face: KnownPerson;
  room: RoomView;
}

export interface RoomChange {
  name?: string;
  topic?: string;
  /** The id of a file, a picture, that was uploaded for this room (`upload.ts`). */
  picture?: string;
  /** Removes the picture of the room. */
  avatar?: '';
  kind?: RoomKind;
  slowMs?: number;
  frozen?: boolean;
  maxMembers?: number;
}

/** With `set_role` the role; for a mute or a ban also when it ends, and why. */
export interface MemberTerms {
  role?: Role;
  /** Unix milliseconds; left out: no end. */
  until?: number;
  reason?: string;
}

export interface ConversationChange {
  mutedUntil?: number;
  pinned?: boolean;
  archived?: boolean;
  markedUnread?: boolean;
}

/** `mutedUntil` for good. */
export const MUTED_FOR_GOOD = 253402300799999;

export interface Message {
  /** The client-made id: the same before and after it was sent, so a good key for a list. */
  id: string;
  /** Undefined while it is in the queue. */
  seq?: number;
  from: string;
  mine: boolean;
  body: string;
  /** Unix milliseconds, of the server where it has a seq. */
  time: number;
  replyTo?: number;
  /** Unix milliseconds of the last edit. */
  edited?: number;
  /** It was deleted for all; the body is empty. */
  deleted?: true;
  reactions?: readonly Reaction[];
  files?: readonly SentFile[];
  /** Kept at hand above the conversation. */
  pinned?: true;
  /** It is what has stayed of a call; the body says it in English. */
  call?: CallEntry;
  /** The body is its question. */
  poll?: Poll;
  /** Somebody else has said it first: `from`, if one may know who. */
  forwarded?: Forwarded;
  /** It is a reply in the thread below this seq. */
  thread?: number;
  /** A thread hangs below it. */
  replies?: Replies;
  /** Preview of its first link. */
  preview?: Preview;
  /** It is this sticker; the body is its words. */
  sticker?: Sticker;
  /** A change of it has not reached the server yet. */
  changing?: true;
  /** Of own messages: how far it came; `held`: a moderator is to read it first. Of others: `received`. */
  state: 'sending' | 'held' | 'sent' | 'received' | 'read' | 'failed';
  /** Why it failed. */
  code?: Code;
  /** The reason that a moderator gave. */
  why?: string;
}

/** A question to post. */
export interface NewPoll {
  choices: readonly string[];
  multiple?: boolean;
  anonymous?: boolean;
  /** Unix milliseconds. */
  ends?: number;
}

export interface ThreadView {
  key: ConversationKey;
  root: Message;
  follows: boolean;
  unread: number;
}

export interface Rich {
  /** The conversation's id on the wire, as it stands in links. */
  idOf(key: ConversationKey): string;
  /** Of whom or which room a link speaks; refused where one is no member. */
  keyOf(id: string): Promise<ConversationKey>;
  /** Posts a poll. It and the next two are queued as `send` does it, and return the id. */
  poll(key: ConversationKey, question: string, poll: NewPoll): string;
  /** Posts a message of `from` in `to`. */
  forward(from: ConversationKey, message: Message, to: ConversationKey): string;
  /** Those of the site. */
  stickers(): Promise<readonly Sticker[]>;
  /** `thread`: the seq below which it is posted. */
  sticker(
    key: ConversationKey,
    sticker: Sticker,
    where?: { replyTo?: number | undefined; thread?: number | undefined },
  ): string;
  /** Posts in the thread below this seq. */
  reply(key: ConversationKey, root: number, body: string): string;
  /** Takes the place of one's vote of before; no choices take it back. */
  vote(key: ConversationKey, seq: number, choices: readonly number[]): Promise<void>;
  closePoll(key: ConversationKey, seq: number): Promise<void>;
  /** Removes the preview of the link. */
  dropPreview(key: ConversationKey, seq: number): Promise<void>;
  thread(
    key: ConversationKey,
    seq: number,
    change?: { follow?: boolean; read?: number },
  ): Promise<ThreadView>;
  /** Those that one follows, newest reply first. */
  threads(key: ConversationKey): Promise<readonly ThreadView[]>;
  replies(
    key: ConversationKey,
    seq: number,
    before?: number,
  ): Promise<{ messages: readonly Message[]; more: boolean }>;
}

/** A code in a link lets whoever has it into a room, until it ends. */
export interface Invitations {
  /** For so many hours, and so many members; without a number, for all whom the room takes. */
  makeLink(key: ConversationKey, hours: number, uses?: number): Promise<Link>;
  /** Those that hold, newest first: all of them for who keeps order in the room, one's own for others. */
  links(key: ConversationKey): Promise<readonly Link[]>;
  /** Fulfilled with those that are left. */
  takeBackLink(key: ConversationKey, code: string): Promise<readonly Link[]>;
  /** The room of an invitation code. With a `key`, the user is a member already. */
  openLink(code: string): Promise<Invited>;
  joinLink(code: string): Promise<ConversationKey>;
}

export interface Invited extends Omit<Invitation, 'conversation'> {
  key?: ConversationKey;
}

export interface Found {
  hits: readonly { key: ConversationKey; message: Message }[];
  next?: string;
}

export interface Reaction {
  /** An emoji. */
  reaction: string;
  count: number;
  /** The first twenty at most, oldest first. */
  users: readonly string[];
  mine: boolean;
}

export interface Timeline {
  /** Ascending by seq without holes, then what is in the queue in the order of writing. */
  messages: readonly Message[];
  /** Older ones exist on the server. */
  more: boolean;
  /** It ends before the newest message. */
  later?: true;
  loading: 'no' | 'newest' | 'older' | 'newer' | 'gap';
  /** Why the last loading failed; cleared by the next try. */
  failed?: Code;
  /** First unread seq when the conversation was opened: where the line is drawn. Stays until it is closed. */
  unreadFrom?: number;
  /** How many messages were unread then. 0: they arrived while nobody looked. */
  unreadCount?: number;
}

/** Why a request did not succeed. `offline`: there was no connection, or it broke before the answer. */
export class RequestError extends Error {
  constructor(
    readonly code: Code | 'offline',
    readonly retryAfter?: number,
    /** In the server's words, for those who set it up. */
    text?: string,
  ) {
    super(text ?? code);
  }
}
