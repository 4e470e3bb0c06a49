// The text of the chats' badge for screen readers.

import type { Totals } from '@kith/client';
import type { Wording } from '../wording/wording.ts';

/** Unread messages and message requests, as words. Empty without any. */
export function waitingText(
  words: Wording,
  { unread, strangers }: Pick<Totals, 'unread' | 'strangers'>,
): string {
  const parts = [unread > 0 && words.unread(unread), strangers > 0 && words.requestsWaiting(strangers)];
  return parts.filter(Boolean).join(', ');
}
