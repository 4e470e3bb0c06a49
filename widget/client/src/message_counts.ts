// Applies reactions, votes and flags, which arrive without their message.

import { NAMED } from './pending_changes.ts';
import type { Event, Message } from './wire.ts';

export type Counts = Event & { t: 'counts' };

/**
 * The message with these counts and flags. Counts of several users at once have no names, so the known names stay. In a
 * large room the names are as old as the page that brought the message.
 */
export function withCounts(message: Message, counts: Counts, me: string | undefined): Message {
  const { by, put, chose, version, poll: now } = counts;
  const { reactions: before, pinned: _, preview, ...rest } = message;
  const { poll } = message;
  /** `on`: whether `by` has this reaction or vote now. Undefined: names do not change. */
  const after = (old: { users?: string[]; mine?: boolean } | undefined, on: boolean | undefined) => {
    const { users = [], mine: was } = old ?? {};
    if (by === undefined || on === undefined) return { users, ...(was && { mine: was }) };
    const mine = by === me ? on : was;
    const others = users.filter(one => one !== by);
    return { users: on ? [...others, by].slice(0, NAMED) : others, ...(mine && { mine }) };
  };
  const reactions = counts.reactions.map(one => {
    const old = before?.find(({ reaction }) => reaction === one.reaction);
    return { ...one, ...after(old, put?.reaction === one.reaction ? put.on : undefined) };
  });
  return {
    ...rest,
    version,
    ...(counts.pinned && { pinned: true }),
    ...(counts.preview && preview && { preview }),
    ...(reactions[0] && { reactions }),
    ...(poll &&
      now && {
        poll: {
          ...poll,
          choices: poll.choices.map(({ text, ...old }, at) => ({
            text,
            votes: now.votes[at] ?? 0,
            ...after(old, chose?.includes(at)),
          })),
          voters: now.voters,
          ...(now.closed && { closed: true }),
        },
      }),
  };
}
