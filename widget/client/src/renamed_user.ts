// Applies the new id of a user who was erased, or of a guest who became a member.

import { deleted } from './pending_changes.ts';
import type { Message, Renamed } from './wire.ts';

/** The message with the new id of the user, as its author and in its lists of users. */
export function renamed(message: Message, { was, user, erased }: Renamed): Message {
  const text = JSON.stringify(message);
  if (!text.includes(JSON.stringify(was))) return message;
  // Ids of users are in `from` and in lists of users, where the keys are numbers.
  const now = JSON.parse(text, (key, value) =>
    value === was && (key === 'from' || +key >= 0) ? user : value,
  );
  return erased && message.from === was ? deleted(now) : now;
}
