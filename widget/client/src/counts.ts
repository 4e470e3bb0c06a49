// Reactions and votes arrive as counts, without the message that they belong to.

import { NAMED } from './pending.ts';
import type { Event, Message, Reaction } from './wire.ts';

export type Counts = Event & { t: 'counts' };

/**
 * The message with these counts. Names are those that are known: counts of several users at once bring none, so a large
 * room's names are as old as the page on which the message came.
 */
export function withCounts(message: Message, counts: Counts, me: string | undefined): Message {
  const { reactions: _, ...rest } = message;
  const reactions = counts.reactions.map(one => reaction(one, message, counts, me));
  const poll = message.poll && counts.poll && votes(message.poll, counts.poll, counts, me);
  return {
    ...rest,
    version: counts.version,
    ...(reactions.length > 0 && { reactions }),
    ...(poll && { poll }),
  };
}

function reaction(
  { reaction, count }: Counts['reactions'][number],
  message: Message,
  { by, put }: Counts,
  me: string | undefined,
): Reaction {
  const old = message.reactions?.find(one => one.reaction === reaction);
  const changed = put?.reaction === reaction ? put : undefined;
  const users = named(old?.users ?? [], changed && by, changed?.on).slice(0, count);
  const mine = changed && by === me ? changed.on : old?.mine;
  return { reaction, count, users, ...(mine && { mine }) };
}

function votes(
  poll: NonNullable<Message['poll']>,
  now: NonNullable<Counts['poll']>,
  { by, chose }: Counts,
  me: string | undefined,
): NonNullable<Message['poll']> {
  const choices = poll.choices.map((choice, at) => {
    const { mine: was, users: before = [], ...rest } = choice;
    const voted = now.votes[at] ?? choice.votes;
    const users = poll.anonymous ? [] : named(before, chose && by, chose?.includes(at)).slice(0, voted);
    const mine = chose && by === me ? chose.includes(at) : was;
    return { ...rest, votes: voted, ...(users.length > 0 && { users }), ...(mine && { mine }) };
  });
  return { ...poll, choices, voters: now.voters };
}

function named(users: readonly string[], user: string | undefined, on = false): string[] {
  if (user === undefined) return [...users];
  if (!on) return users.filter(one => one !== user);
  return users.includes(user) ? [...users] : [...users, user].slice(0, NAMED);
}
