// A user has another id now: erased, or a guest who became a member.

import { deleted } from './pending_changes.ts';
import type { Message, Renamed } from './wire.ts';

/** The message with the new id of its author, and of those who are named in it. */
export function renamed(message: Message, { was, user, erased }: Renamed): Message {
  const text = JSON.stringify(message);
  if (!text.includes(JSON.stringify(was))) return message;
  // Ids are in `from` and in lists of users, whose keys are numbers.
  const now = JSON.parse(text, (key, value) =>
    value === was && (key === 'from' || +key >= 0) ? user : value,
  );
  return erased && message.from === was ? deleted(now) : now;
}
