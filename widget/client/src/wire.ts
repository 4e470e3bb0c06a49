// The web protocol as `crates/web-proto` defines it.

export type Return = 'never' | 'with_new_token' | 'later' | 'now';

/** What a client does after each code. */
export const COMES_BACK = {
  going_away: 'later',
  done: 'never',
  bad_frame: 'never',
  bad_utf8: 'never',
  bad_transport: 'never',
  unknown_command: 'never',
  bad_version: 'never',
  not_now: 'never',
  too_large: 'never',
  no_such_site: 'never',
  bad_origin: 'never',
  bad_token: 'with_new_token',
  token_expired: 'with_new_token',
  token_used: 'with_new_token',
  no_guests: 'with_new_token',
  banned: 'never',
  no_session: 'now',
  replaced: 'never',
  idle: 'now',
  slow: 'later',
  rate_limited: 'later',
  full: 'later',
  unavailable: 'later',
  no_such_user: 'never',
  no_such_conversation: 'never',
  not_allowed: 'never',
  bad_body: 'never',
  bad_value: 'never',
  too_many_contacts: 'never',
  internal: 'later',
} as const satisfies Record<string, Return>;

export type Code = keyof typeof COMES_BACK;

export type SetPresence = 'online' | 'away' | 'busy' | 'invisible';
export type Presence = 'online' | 'away' | 'busy' | 'offline' | 'unknown';
export type ContactAction = 'request' | 'accept' | 'decline' | 'remove' | 'block' | 'unblock';
export type ContactState = 'none' | 'request_sent' | 'request_received' | 'contact' | 'blocked';
export type SendTo = { user: string } | { conversation: string };
export type MarkerSet = { received: number } | { read: number };

export interface Hello {
  v: number;
  site: string;
  token?: string;
  device: string;
  position?: string;
  client?: string;
}

export type Command =
  | ({ t: 'hello' } & Hello)
  | { t: 'send'; id: string; to: SendTo; body: string; reply_to?: number }
  | ({ t: 'marker'; conversation: string } & MarkerSet)
  | { t: 'typing'; to: SendTo; on: boolean }
  | { t: 'presence'; set: SetPresence }
  | { t: 'watch'; users: string[] }
  | { t: 'contact'; rid: number; action: ContactAction; user: string }
  | { t: 'contacts'; rid: number; after?: string; limit?: number }
  | { t: 'people'; rid: number; query?: string; after?: string; limit?: number }
  | { t: 'profiles'; rid: number; users: string[] }
  | { t: 'conversations'; rid: number; after?: string; limit?: number; archived?: boolean }
  | {
      t: 'conversation';
      rid: number;
      conversation: string;
      muted_until?: number;
      pinned?: boolean;
      archived?: boolean;
    }
  | { t: 'history'; rid: number; to: SendTo; before?: number; after?: number; limit?: number }
  | { t: 'resume'; rid: number; position: string }
  | { t: 'token'; rid: number; token: string }
  | { t: 'ping'; rid?: number }
  | { t: 'bye' };

export interface Person {
  user: string;
  name: string;
  avatar?: string;
  guest?: boolean;
  presence?: Presence;
}

export interface Contact extends Person {
  state: ContactState;
}

export interface Message {
  conversation: string;
  seq: number;
  from: string;
  id: string;
  body: string;
  time: number;
  reply_to?: number;
}

export interface Conversation {
  conversation: string;
  with: Person;
  last?: Message;
  received: number;
  read: number;
  their_received: number;
  their_read: number;
  unread: number;
  mentions: number;
  muted_until: number;
  pinned: boolean;
  archived: boolean;
  active: number;
}

export interface Gap {
  conversation: string;
  first: number;
}

export interface Limits {
  body_bytes: number;
  frame_bytes: number;
  page: number;
  watch: number;
  idle_ms: number;
  heartbeat_ms: number;
}

export interface Welcome {
  session: string;
  key?: string;
  me: Person;
  presence: SetPresence;
  guest_token?: string;
  open: boolean;
  limits: Limits;
  time: number;
  expires: number;
  resumed: boolean;
  conversations: Conversation[];
  messages: Message[];
  gaps: Gap[];
  contacts: Contact[];
  contacts_next?: string;
  conversations_next?: string;
  position: string;
}

export type Event =
  | ({ t: 'welcome' } & Welcome)
  | { t: 'ack'; id: string; conversation: string; seq: number; time: number; position: string }
  | { t: 'error'; code: Code; text: string; re?: number; id?: string; retry_after?: number }
  | ({ t: 'message'; position: string } & Message)
  | {
      t: 'marker';
      conversation: string;
      user: string;
      received: number;
      read: number;
      unread?: number;
      position: string;
    }
  | { t: 'typing'; conversation: string; user: string; on: boolean }
  | { t: 'presence'; user: string; presence: Presence; last_seen?: number }
  | { t: 'contact'; re?: number; contact: Contact; position: string }
  | { t: 'contacts'; re: number; contacts: Contact[]; next?: string }
  | { t: 'people'; re: number; people: Person[]; next?: string }
  | { t: 'profiles'; re: number; people: Person[] }
  | { t: 'conversations'; re: number; conversations: Conversation[]; next?: string }
  | { t: 'conversation'; re?: number; conversation: Conversation; position: string }
  | { t: 'history'; re: number; conversation: string; messages: Message[]; more: boolean }
  | {
      t: 'changes';
      re: number;
      reset: boolean;
      conversations: Conversation[];
      messages: Message[];
      gaps: Gap[];
      contacts: Contact[];
      position: string;
    }
  | { t: 'behind' }
  | { t: 'token_ok'; re: number; expires: number }
  | { t: 'pong'; re?: number }
  | { t: 'heartbeat' }
  | { t: 'bye'; code: Code; text: string; retry_after?: number };
