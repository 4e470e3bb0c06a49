// The interface of Kith for user interfaces: values to read, topics to watch, actions.

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
 * Reading is cheap and returns the same object until its value has changed, so values can be compared with `===` and
 * rendered from `subscribe` alone. No method throws because of the network: state shows failures, and promises of
 * requests reject with a `RequestError`.
 */
export interface Client {
  /** Origin and path prefix of the server, without a slash at the end. */
  readonly server: string;
  // -- reading --

  status(): Status;
  /** Undefined until the first welcome. */
  me(): Me | undefined;
  totals(): Totals;
  /** Keys of a list of conversations: pinned ones first, then by last activity. Archived ones have their own list. */
  conversations(list?: ListName): ConversationList;
  /** If the key has no conversation yet (`direct('ana')`): an empty one with that person. */
  conversation(key: ConversationKey): Conversation;
  /** The newest messages of a conversation without gaps, or those around a message of `show`. `open` loads them. */
  timeline(key: ConversationKey): Timeline;
  /** Contacts, contact requests and blocked users, sorted by name. */
  contacts(): ContactList;
  contact(user: string): ContactState;
  /** Always returns a person. If the profile is unknown, the name is the user id, and the profile is requested. */
  person(user: string): KnownPerson;
  /** `unknown` while the client's own connection is lost. */
  presence(user: string): PresenceView;
  /** The ids of users who are typing in this conversation now. */
  typing(key: ConversationKey): readonly string[];
  /** If the server does not know the key, as with `threadDraft`, the draft stays in this browser. */
  draft(key: ConversationKey): string;
  /** Moderators' notices to the member: warnings and mutes. */
  notices(): readonly Notice[];
  /** Of all tabs of this browser, this one has the focus or had it last. */
  inFront(): boolean;

  /** Calls `listener` after the topic has changed, at most once per turn of the event loop. Returns `unsubscribe`. */
  subscribe(topic: Topic, listener: () => void): () => void;
  /** Listens to one-time events, for sounds, announcements and notifications. */
  on<K extends keyof ClientEvents>(name: K, listener: (detail: ClientEvents[K]) => void): () => void;

  // -- actions --

  /** Connects after creation, `stop` or the state `stopped`. Also ends the wait for a retry. */
  connect(): void;
  /** Disconnects on purpose: presence ends at once, and the client does not reconnect. */
  stop(): void;
  /** Sets a new token of the site, for pages that push tokens. */
  setToken(token: string): void;
  /** Call it after the member has signed out: stops, and removes the member's data from memory and storage. */
  forget(): void;
  /** Stops, and releases listeners and memory. The browser's storage is kept, with a guest's token. */
  close(): void;
  /** Like `close`, and removes the guest's token from storage. */
  destroy(): void;

  /** The conversation is shown: loads its newest page and fills gaps. Call the returned function when it is hidden. */
  open(key: ConversationKey): () => void;
  /** Loads the page before the timeline. No effect while a page is loading, or if no older messages exist. */
  loadOlder(key: ConversationKey): void;
  /**
   * The member has seen the messages `from` to `seq` (they are visible, and the page is in front). Without `from`: all
   * messages up to `seq`, as in "mark as read". Moves the read marker forward and returns true, unless this would also
   * mark unread messages before `from` as read. Debounced.
   */
  seen(key: ConversationKey, seq: number, from?: number): boolean;
  /**
   * Queues a message, also while offline, and returns its id. White space at the end of the body is not sent. `files`
   * were uploaded for this conversation (`upload.ts`); with files the body may be empty.
   */
  send(
    key: ConversationKey,
    body: string,
    replyTo?: number,
    files?: readonly SentFile[],
    bears?: MessageExtras,
  ): string;
  /** Polls, forwarding, stickers and threads. The code is fetched when it is first used. */
  rich(): Promise<Rich>;
  /** Access data for a request beside the session. `fresh`: the server refused the last token. */
  access(fresh?: boolean): Promise<Access>;
  /** Sends a failed message again, with the same id. */
  retry(id: string): void;
  /** Removes a failed or waiting message from the queue. */
  discard(id: string): void;
  /**
   * Edits an own message. The change is shown at once. While offline it waits for the connection. If the server refuses
   * it, the change is undone and `refused` is emitted. `remove` and `react` work in the same way.
   */
  edit(key: ConversationKey, seq: number, body: string): void;
  /** Deletes a message for all users. */
  remove(key: ConversationKey, seq: number): void;
  /** Adds or removes the user's reaction, an emoji, to a message. */
  react(key: ConversationKey, seq: number, reaction: string, on: boolean): void;
  /**
   * Shows this message and those around it in the timeline, until they meet the newest messages. Resolves with true if
   * they are loaded; the conversation must be open. Repeated calls cause one request, and no topic changes without a
   * change. `unread`: shows the first unread message, and moves the unread line there. Without a seq: shows the newest
   * messages.
   */
  show(key: ConversationKey, seq?: number | 'unread'): Promise<boolean>;
  /** Loads the page after the timeline, if the timeline does not end with the newest message. */
  loadNewer(key: ConversationKey): void;
  setDraft(key: ConversationKey, text: string): void;
  /** Call it at each input; the client limits the rate of commands. `false`: the field is empty. */
  setTyping(key: ConversationKey, on: boolean): void;
  setPresence(set: SetPresence): void;
  /**
   * Watches the presence of these users while they are on the screen, or also their last-seen time. The client watches
   * the union of all callers' users. `watchContacts` covers the presence of contacts.
   */
  watch(users: readonly string[], what?: 'presence' | 'last_seen'): () => void;
  /** Watches the presence of all contacts, also of later ones, while an interface is on the screen. */
  watchContacts(): () => void;
  changeContact(action: ContactAction, user: string): Promise<Contact>;
  changeConversation(key: ConversationKey, change: ConversationChange): Promise<void>;
  loadContacts(): void;
  loadConversations(list?: ListName): void;
  /** Loads a page of the directory. `query`: the start of a word in the name. */
  people(query?: string, after?: string): Promise<{ people: Person[]; next?: string }>;
  /** Pins or unpins a message. */
  pin(key: ConversationKey, seq: number, on: boolean): Promise<void>;
  /** Pinned messages of a conversation, newest first. */
  pins(key: ConversationKey): Promise<readonly Message[]>;
  /** Messages that contain all these words, newest first. The last word may be the start of a word. */
  search(query: string, where?: { in?: ConversationKey; after?: string }): Promise<Found>;

  /** Sends a command of a call. Use `Calls` (calls.ts), which knows the order of the commands. */
  call(action: CallAction): Promise<CallEvent>;

  /** Fetches code that the member may need soon. Call it when the page is idle. */
  prepare(): void;

  /** Sends a command and resolves with its answer. For lazy parts, which have their own commands. */
  ask: Ask;

  // -- notifications --

  /** Applies the change, and resolves with the settings of notifications while the member is away. */
  notifications(change?: NotificationsChange): Promise<NotificationSettings>;

  // -- rooms --

  /** Loads a page of the site's public rooms. `query`: the start of the name. */
  rooms(query?: string, after?: string): Promise<{ rooms: ListedRoom[]; next?: string }>;
  createRoom(room: { name: string; kind: RoomKind; topic?: string }): Promise<ConversationKey>;
  changeRoom(key: ConversationKey, change: RoomChange): Promise<void>;
  join(key: ConversationKey): Promise<void>;
  /** `closes`: an owner closes the room for good, for all members. */
  leave(key: ConversationKey, closes?: boolean): Promise<void>;
  /** Loads a page of the room's members: owners, moderators, then all others by name. */
  members(
    key: ConversationKey,
    query?: string,
    after?: string,
    /** Loads users who are muted in the room or banned from it instead. Only for owners and moderators. */
    sanctioned?: boolean,
  ): Promise<{ members: Member[]; next?: string }>;
  /** Only for owners and moderators. */
  changeMember(
    key: ConversationKey,
    user: string,
    action: MemberAction,
    terms?: MemberTerms,
  ): Promise<Member>;
  /** Invite links of rooms. The code is fetched when it is first used. */
  invitations(): Promise<Invitations>;

  // -- moderation --

  /** Accepts or dismisses a stranger's message request. The server notifies the stranger only of an acceptance. */
  answerRequest(key: ConversationKey, answer: RequestAnswer): Promise<void>;
  /** Reports a message, a person or a room to the site's moderators. Resolves with the number of the report. */
  report(target: ReportTarget, reason: ReportReason, text?: string): Promise<number>;
  /** Marks the warnings as read by the member. */
  noticesSeen(): Promise<void>;
  /** For moderators: a page of reports, newest first. */
  reports(state?: ReportState, after?: string): Promise<{ reports: Report[]; next?: string }>;
  /** For moderators: carries out an action. Resolves with the updated report if the action is about one. */
  moderate(act: ModerationAction): Promise<Report | undefined>;
  /** For moderators: a page of the audit log, newest first. */
  audit(after?: string): Promise<{ entries: AuditEntry[]; next?: string }>;
  /** For moderators: checks how the site's filters would treat this text. */
  testFilter(body: string): Promise<FilterTest>;
  /** For admins: applies a merge patch to the settings of the site, and resolves with all of them. */
  settings(patch?: SiteSettings): Promise<SiteSettings>;
}

/** Names and values, as `kith site show` prints them. */
export type SiteSettings = Record<string, unknown>;

export interface FilterTest {
  /** Undefined: the text would be sent normally. */
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

/** A permanent key of a conversation, valid before and after the conversation exists on the server. */
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

/** `requests`: unanswered requests of strangers, which no other list has. `unread` and `mentions` filter `main`. */
export type ListName = 'main' | 'archived' | 'requests' | 'unread' | 'mentions';

/** The lists that the server pages. It sends requests within the main list. */
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
  /** The presence of any user. */
  | 'presences';

export interface ClientEvents {
  /**
   * A message of another user arrived live (not from history, and only once). `first` is true in only one tab of the
   * browser, the one with the focus now or last. This tab plays a sound or shows a notice.
   */
  message: { key: ConversationKey; message: Message; first: boolean };
  /** A user sent a contact request, or accepted one. */
  contact: Contact;
  totals: Totals;
  /** Another user removed this member from a room. */
  left: { key: ConversationKey; reason: LeftReason };
  /** Users joined a room of this member. Not sent in large rooms. */
  joined: { key: ConversationKey; users: readonly string[] };
  /** An event of a call. Every tab gets it, also answers to commands of another tab. */
  call: CallEvent;
  /** An event of a room's call. */
  group_call: GroupCallEvent;
  /** For moderators: a report is new or has changed. */
  report: Report;
  /** A message has changed, whether a timeline has it or not. */
  changed: { key: ConversationKey; message: Message };
  /** A message is not pinned, or no longer, whether a timeline has it or not. */
  unpinned: { key: ConversationKey; seq: number };
  /** The server refused a change of a message for good. The change is undone. */
  refused: { key: ConversationKey; what: 'edit' | 'delete' | 'react'; code: Code };
}

export type CallEvent = Event & { t: 'call' };
export type GroupCallEvent = Event & { t: 'group_call' };

export interface Status {
  /**
   * `idle`: not started. `connecting`: first attempts. `waiting`: the connection was lost or refused for now, and is
   * retried at `retryAt`. `offline`: the browser reports no network. `stopped`: the client does not retry.
   */
  state: 'idle' | 'connecting' | 'online' | 'waiting' | 'offline' | 'stopped';
  /** Why it is waiting or stopped, if the server sent a reason. */
  code?: Code;
  /** The reason that a moderator or the owner gave, and the end in Unix milliseconds. */
  reason?: string;
  until?: number;
  /** The time of the next attempt in Unix milliseconds. */
  retryAt?: number;
  transport?: TransportName;
  /** Another tab holds the connection. */
  shared: boolean;
}

export type TransportName = 'websocket' | 'stream' | 'sse' | 'poll';

export interface Me extends KnownPerson {
  presence: SetPresence;
  /** All members of the site see each other. Otherwise only contacts do. */
  open: boolean;
  /** The role on the whole site, if it is higher than member. */
  role?: SiteRole;
  /** The users whose calls ring. */
  calls: CallsFrom;
  /** Write access of the site, if it is limited or there is a raid. */
  site?: SiteState;
  limits: Limits;
}

export interface KnownPerson {
  user: string;
  /** The name to show: the member's own name for this contact, or the display name. */
  name: string;
  /** The name that others see, if `name` is the member's own. */
  displayName?: string;
  avatar?: string;
  /** Path on the server of the picture that the person has set in an app. */
  picture?: string;
  guest: boolean;
}

export interface PresenceView {
  presence: Presence;
  lastSeen?: number;
}

export interface Totals {
  unread: number;
  mentions: number;
  /** Conversations with unread messages, without muted ones. */
  conversations: number;
  /** Contact requests that wait for the member's answer. */
  requests: number;
  /** Message requests of strangers that wait for an answer. The other totals do not include them. */
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

export type ListedContact = Contact & Pick<KnownPerson, 'displayName'>;

export interface ContactList {
  contacts: readonly ListedContact[];
  more: boolean;
  loading: boolean;
  /** The last page could not be loaded. */
  failed: boolean;
}

export interface Conversation {
  /** Differs from the requested key if the other user has a new id. */
  key: ConversationKey;
  /** False until a message exists. */
  exists: boolean;
  /** The other user. In a room: its name and picture in the form of a person. */
  with: KnownPerson;
  /** The room. Without a `role` the user is not a member. Undefined if the room is not known yet. */
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
  /** The message request that waits for an answer: `received` by this user, or `sent`. */
  request?: RequestState;
  /** The user who invites this user into the room, if `request` is `received` and it is a room. */
  requestedBy?: string;
  /** The member has marked it as unread. Ends when it is opened or read. */
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
  /** The number of the last change of a member's nickname; absent if nobody has had one. */
  nicknames?: number;
  /** The maximum number of members; 0: the limit of the site. */
  maxMembers: number;
}

export interface NotificationSettings {
  /** The key that a browser needs to subscribe. Undefined: the server sends no push notifications. */
  key?: string;
  /** The number of browsers that get push notifications. */
  devices: number;
  quiet?: QuietHours;
  /** Notices show the text of messages. */
  bodies: boolean;
  /** Missed messages are mailed after this number of minutes; 0: never. Undefined: no address, or no mail server. */
  mail?: { address: string; after: number };
}

/** Fields that are left out do not change. */
export interface NotificationsChange {
  subscribe?: PushSubscribing;
  /** The endpoint of a subscription. */
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

/** The role for `set_role`; the end and the reason for a mute or a ban. */
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

/** The value of `mutedUntil` for a mute without an end. */
export const MUTED_FOR_GOOD = 253402300799999;

export interface Message {
  /** The id that the client made. It stays the same after sending, so it is a stable key in lists. */
  id: string;
  /** Undefined while the message is queued. */
  seq?: number;
  from: string;
  mine: boolean;
  body: string;
  /** Unix milliseconds. The server's time if the message has a seq. */
  time: number;
  replyTo?: number;
  /** Unix milliseconds of the last edit. */
  edited?: number;
  /** The message was deleted for all users; the body is empty. */
  deleted?: true;
  /** Another app sent the message, with content that only such apps can show; the body is empty. */
  opaque?: true;
  reactions?: readonly Reaction[];
  files?: readonly SentFile[];
  /** The message is pinned. */
  pinned?: true;
  /** The message is the log entry of a call. The body describes it in English. */
  call?: CallEntry;
  /** A poll; the body is its question. */
  poll?: Poll;
  /** The origin of a forwarded message: its author `from`, if the user may know it. */
  forwarded?: Forwarded;
  /** The message is a reply in the thread below this seq. */
  thread?: number;
  /** The thread below the message. */
  replies?: Replies;
  /** The preview of the first link in the message. */
  preview?: Preview;
  /** A sticker; the body is its text. */
  sticker?: Sticker;
  /** A change of the message is not confirmed by the server yet. */
  changing?: true;
  /** For own messages the progress of delivery; `held`: a moderator must review it first. For others `received`. */
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
  /** The conversation's id on the wire, as links contain it. */
  idOf(key: ConversationKey): string;
  /** The key of the conversation in a link. Rejects if the user is no member. */
  keyOf(id: string): Promise<ConversationKey>;
  /** Posts a poll. Polls, forwarded messages and stickers are queued as by `send`, and the id is returned. */
  poll(key: ConversationKey, question: string, poll: NewPoll): string;
  /** Posts a message of `from` in `to`. */
  forward(from: ConversationKey, message: Message, to: ConversationKey): string;
  /** The stickers of the site. */
  stickers(): Promise<readonly Sticker[]>;
  /** Posts a sticker. `thread`: the seq of the thread's root. */
  sticker(
    key: ConversationKey,
    sticker: Sticker,
    where?: { replyTo?: number | undefined; thread?: number | undefined },
  ): string;
  /** Posts in the thread below this seq. */
  reply(key: ConversationKey, root: number, body: string): string;
  /** Replaces the user's earlier vote. An empty list withdraws it. */
  vote(key: ConversationKey, seq: number, choices: readonly number[]): Promise<void>;
  closePoll(key: ConversationKey, seq: number): Promise<void>;
  /** Removes the preview of the link. */
  dropPreview(key: ConversationKey, seq: number): Promise<void>;
  thread(
    key: ConversationKey,
    seq: number,
    change?: { follow?: boolean; read?: number },
  ): Promise<ThreadView>;
  /** The threads that the user follows, newest reply first. */
  threads(key: ConversationKey): Promise<readonly ThreadView[]>;
  replies(
    key: ConversationKey,
    seq: number,
    before?: number,
  ): Promise<{ messages: readonly Message[]; more: boolean }>;
}

/** Invite links of rooms. A link contains a code that admits its holder to a room until it expires. */
export interface Invitations {
  /** Makes a link that is valid for `hours` and for `uses` members. Without `uses` only the room's size limits it. */
  makeLink(key: ConversationKey, hours: number, uses?: number): Promise<Link>;
  /** The valid links, newest first: all for owners and moderators of the room, only the own ones for others. */
  links(key: ConversationKey): Promise<readonly Link[]>;
  /** Revokes a link. Resolves with the remaining links. */
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
  /** Messages ascending by seq without gaps, then queued messages in the order of writing. */
  messages: readonly Message[];
  /** Older messages exist on the server. */
  more: boolean;
  /** The timeline ends before the newest message. */
  later?: true;
  loading: 'no' | 'newest' | 'older' | 'newer' | 'gap';
  /** Why the last request failed. The next attempt clears it. */
  failed?: Code;
  /** The first unread seq when the conversation was opened: the place of the unread line. It stays until the close. */
  unreadFrom?: number;
  /** The number of unread messages when it was opened. 0: messages arrived later, while the page was hidden. */
  unreadCount?: number;
}

/** The reason why a request failed. `offline`: there was no connection, or it broke before the answer. */
export class RequestError extends Error {
  constructor(
    readonly code: Code | 'offline',
    readonly retryAfter?: number,
    /** The server's text, for the developer of the site. */
    text?: string,
  ) {
    super(text ?? code);
  }
}
