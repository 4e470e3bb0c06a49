// Messages of authors whom the member has blocked, where a room shows a line of them: beside its timeline, which collapses them.

import { type Client, type ConversationKey, isRoom, type Message } from '@kith/client';

/** A direct conversation is the member's own, whatever happened since. */
export function isLeftOut(key: ConversationKey, { from }: Message, client: Client): boolean {
  return isRoom(key) && client.contact(from) === 'blocked';
}
