// Changes of a replica. The leader applies them in order and sends them to the other tabs, which do the same.

import type { ConversationKey, Status } from './client.ts';
import type { MessageExtras } from './message_extras.ts';
import type { Code, Command, Event, SentFile, SetPresence } from './wire.ts';

export type Change =
  /** An event of the server. `request`: the command that it answers. */
  | { c: 'event'; event: Event; request?: Command; now: number }
  | { c: 'action'; action: Action; now: number }
  | { c: 'status'; status: Status }
  /** Watched users of whom the server has sent no presence: they are offline. */
  | { c: 'unseen'; users: readonly string[] }
  /** Contacts are no longer watched, so their known presence gets outdated. */
  | { c: 'unwatched' }
  /** The leader has sent these markers to the server. */
  | { c: 'told'; key: ConversationKey; received: number; read: number; now: number };

/**
 * Actions of the member, in any tab. Applying an action twice has the effect of once: a tab applies its own at once,
 * gets it again from the leader, and repeats it to the next leader if the first one died in between.
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
  /** Another app of the member sent the message. */
  opaque?: true;
  replyTo?: number;
  files?: readonly SentFile[];
  /** A poll, the thread of the message, or the origin of a forwarded message. */
  bears?: MessageExtras;
  time: number;
  /** The code of a final refusal. The member then retries or discards the message. */
  failed?: Code;
  /** The reason that a moderator gave. */
  why?: string;
  /** The server holds the message, and no other user sees it. `waiting`: a moderator decides. `kept`: shown as sent. */
  held?: 'waiting' | 'kept';
}
