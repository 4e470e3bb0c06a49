// Whether a one-line excerpt of a message must be hidden because the member has blocked its author. The
// timeline itself collapses such messages.

import { type Client, type ConversationKey, isRoom, type Message } from '@kith/client';

/** A direct conversation hides nothing, even if the member has blocked the other user. */
export function isLeftOut(key: ConversationKey, { from }: Message, client: Client): boolean {
  return isRoom(key) && client.contact(from) === 'blocked';
}
