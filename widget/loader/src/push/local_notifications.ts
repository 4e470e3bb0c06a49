// Notices of messages that arrive while all tabs are hidden. They follow the same rules as the server's push notices.

import type { Client, ConversationKey, NotificationSettings } from '@kith/client';
import { isWithin } from '@kith/client/do_not_disturb';
import type { Notice } from './worker.ts';

/** In larger rooms only mentions cause a notice. */
const FEW_MEMBERS = 20;
/** A lock screen shows no more than this. */
const MOST_LETTERS = 300;

export function isWorthANotice(
  client: Pick<Client, 'conversation' | 'me'>,
  key: ConversationKey,
  now: number,
): boolean {
  const { unread, mentions, mutedUntil, archived, request, room } = client.conversation(key);
  if (unread === 0 || mutedUntil > now || archived || request || client.me()?.presence === 'busy')
    return false;
  return room === undefined || room.members <= FEW_MEMBERS || mentions > 0;
}

/** The notice of a conversation. Undefined in quiet hours. */
export function noticeOf(
  client: Pick<Client, 'conversation' | 'person'>,
  key: ConversationKey,
  { bodies, quiet }: Pick<NotificationSettings, 'bodies' | 'quiet'>,
  now: Date,
): Notice | undefined {
  if (quiet && isWithin(quiet, now)) return undefined;
  const { with: other, room, last, unread } = client.conversation(key);
  const who = room && last ? `${client.person(last.from).name}: ` : '';
  const said = bodies && last?.body ? who + last.body.slice(0, MOST_LETTERS) : undefined;
  return {
    kith: key,
    title: other.name,
    count: unread,
    ...(said !== undefined && { body: said }),
    ...(other.avatar !== undefined && { icon: other.avatar }),
    ...(last && { time: last.time }),
  };
}
