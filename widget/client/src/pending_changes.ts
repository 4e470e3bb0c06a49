// Changes of messages that the member has made and the server has not confirmed. They are drawn at once, and undone if
// the server refuses them.

import type { Pending } from './change.ts';
import type { ChangedTopics } from './changed_topics.ts';
import type { ConversationKey } from './client.ts';
import type { Command, Message, Reaction } from './wire.ts';

/** Above this number the oldest changes are dropped, for example after many changes while offline. */
const MAX_PENDING = 200;
/** The maximum number of names that the server sends with a reaction. */
export const NAMED = 20;

export type ChangeCommand = Command & { t: 'edit' | 'delete' | 'react' };

export class PendingChanges {
  /** All pending changes, in the order in which they were made. */
  all: readonly Pending[] = [];

  constructor(private readonly changed: ChangedTopics) {}

  /**
   * Keeps only the newest change of each kind on a message. The time decides which is newest: tabs get changes in
   * different orders, and must agree.
   */
  add(pending: Pending): void {
    if (this.of(pending.key, pending.seq).some(one => outlives(one, pending))) return;
    const others = this.all.filter(one => !overrules(pending, one));
    this.all = [...others, pending].slice(-MAX_PENDING);
    this.changed.conversation(pending.key);
  }

  of(key: ConversationKey, seq: number): readonly Pending[] {
    return this.all.filter(one => one.seq === seq && one.key === key);
  }

  /** Removes the change that the server has answered. */
  answered(key: ConversationKey, command: ChangeCommand): Pending | undefined {
    const found = this.of(key, command.seq).find(one => says(one, command));
    if (found === undefined) return undefined;
    this.all = this.all.filter(one => one !== found);
    this.changed.conversation(key);
    return found;
  }

  restore(all: readonly Pending[]): void {
    for (const one of [...this.all, ...all]) this.changed.conversation(one.key);
    this.all = all;
  }

  clear(): void {
    this.restore([]);
  }
}

/** The message as it will be when the server has accepted these changes. */
export function foreseen(message: Message, pending: readonly Pending[], me: string): Message {
  let seen = message;
  for (const one of pending) {
    if (seen.deleted) return seen;
    if (one.what === 'edit') seen = { ...seen, body: one.body, edited: one.time };
    else if (one.what === 'delete') seen = deleted(seen);
    else seen = { ...seen, reactions: reacted(seen.reactions ?? [], one.reaction, one.on, me) };
  }
  return seen;
}

/** The message after its deletion. It keeps its place, also in a thread. */
export function deleted(message: Message): Message {
  const {
    edited: _,
    reactions: _1,
    reply_to: _2,
    files: _3,
    poll: _4,
    forwarded: _5,
    preview: _6,
    sticker: _7,
    pinned: _8,
    ...rest
  } = message;
  return { ...rest, body: '', deleted: true };
}

function reacted(before: readonly Reaction[], reaction: string, on: boolean, me: string): Reaction[] {
  const old = before.find(one => one.reaction === reaction);
  if ((old?.mine ?? false) === on) return [...before];
  if (old === undefined) return [...before, { reaction, count: 1, users: [me], mine: true }];
  const users = on ? [...old.users, me].slice(0, NAMED) : old.users.filter(user => user !== me);
  const { mine: _, ...rest } = old;
  const now: Reaction = { ...rest, count: old.count + (on ? 1 : -1), users, ...(on && { mine: true }) };
  return before.map(one => (one === old ? now : one)).filter(one => one.count > 0);
}

export function commandOf(one: Pending, conversation: string): UnnumberedChange {
  const { seq } = one;
  if (one.what === 'edit') return { t: 'edit', conversation, seq, body: one.body };
  if (one.what === 'delete') return { t: 'delete', conversation, seq };
  return { t: 'react', conversation, seq, reaction: one.reaction, on: one.on };
}

type UnnumberedChange<C = ChangeCommand> = C extends ChangeCommand ? Omit<C, 'rid'> : never;

function outlives(one: Pending, other: Pending): boolean {
  if (one.what === 'delete') return true;
  if (!overrules(other, one) || other.what === 'delete') return false;
  return one.time > other.time || (one.time === other.time && JSON.stringify(one) >= JSON.stringify(other));
}

function overrules(newer: Pending, older: Pending): boolean {
  if (newer.key !== older.key || newer.seq !== older.seq) return false;
  if (newer.what === 'delete') return true;
  if (newer.what === 'react') return older.what === 'react' && older.reaction === newer.reaction;
  return older.what === 'edit';
}

function says(one: Pending, command: ChangeCommand): boolean {
  if (one.what === 'edit') return command.t === 'edit' && command.body === one.body;
  if (one.what === 'delete') return command.t === 'delete';
  return command.t === 'react' && command.reaction === one.reaction && command.on === one.on;
}
