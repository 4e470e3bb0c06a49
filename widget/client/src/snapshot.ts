// The state of a tab as plain data. The leader sends it to a tab that joins. The cache has a shortened one.

import type { Pending, Queued } from './change.ts';
import type { ConversationKey, KnownPerson, Status } from './client.ts';
import type { ConversationState } from './conversation_state.ts';
import { trim } from './message_range.ts';
import type {
  CallsFrom,
  ContactState,
  Limits,
  Notice,
  Presence,
  SetPresence,
  SiteRole,
  SiteState,
} from './wire.ts';

export interface Snapshot {
  v: 1;
  position?: string;
  me?: KnownPerson;
  presence: SetPresence;
  open: boolean;
  role?: SiteRole;
  calls?: CallsFrom;
  site?: SiteState;
  notices?: readonly Notice[];
  limits?: Limits;
  conversations: ConversationState[];
  main: Paging;
  archived: Paging;
  people: KnownPerson[];
  contacts: [user: string, state: ContactState][];
  contactPages: Paging;
  presences: [user: string, presence: Presence, lastSeen: number | undefined][];
  contactsTold: 'no' | 'some' | 'all';
  queue: Queued[];
  pending?: Pending[];
  drafts: [key: ConversationKey, text: string][];
  unsaved?: ConversationKey[];
  status: Status;
  /** The token with which another tab continues as the same guest. It is not in the cache, but stored separately. */
  guestToken?: string;
}

/** How far a paged list has been loaded. `more` with no `next`: begin at its first page. */
export interface Paging {
  more: boolean;
  next?: string;
}

export const FIRST_PAGE: Paging = { more: true };

export function paging(next: string | undefined): Paging {
  return next === undefined ? { more: false } : { more: true, next };
}

const CACHED_CONVERSATIONS = 50;
const CACHED_MESSAGES = 30;
const CACHED_CONTACTS = 500;

/**
 * The state that is cached over a page change: the top of the list, the newest messages, and contacts, which
 * decide about calls and pictures. Presence is left out and read again. A shortened list is loaded again from its
 * first page.
 */
export function cached({ guestToken: _, ...all }: Snapshot): Snapshot {
  const conversations = all.conversations
    .sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.active - a.active)
    .slice(0, CACHED_CONVERSATIONS)
    .map(one => ({ ...one, stretches: trim(one.stretches, CACHED_MESSAGES) }));
  const contacts = all.contacts.slice(0, CACHED_CONTACTS);
  const shown = new Set(conversations.flatMap(one => (one.room ? sendersIn(one) : [one.with])));
  for (const [user] of contacts) shown.add(user);
  return {
    ...all,
    conversations,
    main: FIRST_PAGE,
    archived: FIRST_PAGE,
    people: all.people.filter(one => shown.has(one.user)),
    contacts,
    contactPages: FIRST_PAGE,
    presences: [],
    contactsTold: 'no',
    status: { state: 'idle', shared: false },
  };
}

/** Cached messages of a room need the names of their senders. */
function sendersIn(known: ConversationState): string[] {
  return known.stretches.flatMap(one => one.messages.map(message => message.from));
}
