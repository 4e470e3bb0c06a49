// Changes of a replica. The leader applies them in order and sends them to the other tabs, which do the same.

import type { ConversationKey, Status } from './client.ts';
import type { MessageExtras } from './message_extras.ts';
import type { Code, Command, Event, SentFile, SetPresence } from './wire.ts';

export type Change =
  /** The server said something; `request` is what it answers. */
  | { c: 'event'; event: Event; request?: Command; now: number }
  | { c: 'action'; action: Action; now: number }
  | { c: 'status'; status: Status }
  /** They are watched, and the server has said nothing of them: they are not here. */
  | { c: 'unseen'; users: readonly string[] }
  /** Contacts are watched no more: what is known of them gets old. */
  | { c: 'unwatched' }
  /** The leader has told the server these markers. */
  | { c: 'told'; key: ConversationKey; received: number; read: number; now: number };

/**
 * Acts of the member, in any tab. Applying an act twice changes nothing more: a tab applies its own at once,
 * gets it again from the leader, and repeats it to the next leader if the first one died meanwhile.
 */
export type Action =
  | ({ a: 'queue' } & Omit<Queued, 'failed' | 'why' | 'held'>)
  | { a: 'retry'; id: string }
  | { a: 'discard'; id: string }
  | ({ a: 'change' } & Pending)
  | { a: 'draft'; key: ConversationKey; text: string }
  | { a: 'seen'; key: ConversationKey; seq: number }
  | { a: 'typing'; key: ConversationKey; on: boolean }
  | { a: 'presence'; set: SetPresence };

/** A change of a message that the server has not confirmed yet. */
export type Pending = { key: ConversationKey; seq: number; time: number } & (
  | { what: 'edit'; body: string }
  | { what: 'delete' }
  | { what: 'react'; reaction: string; on: boolean }
);

/** A message that is not on the server yet. */
export interface Queued {
  id: string;
  key: ConversationKey;
  body: string;
  replyTo?: number;
  files?: readonly SentFile[];
  /** Rich parts: a poll, its thread, the origin of a forwarded message. */
  bears?: MessageExtras;
  time: number;
  /** Set: it was refused for good, and waits for the member. */
  failed?: Code;
  /** The reason that a moderator gave. */
  why?: string;
  /** The server has it beside the log, where nobody else sees it: for a moderator, or as if it were sent. */
  held?: 'waiting' | 'kept';
}
