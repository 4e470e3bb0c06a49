// By which the server knows a room that is on the screen.

import type { Client, ConversationKey } from '@kith/client';

/** The room of a page is drawn by its page; its id is known once somebody has written there. */
export async function idOfRoom(client: Pick<Client, 'rich'>, room: ConversationKey): Promise<string> {
  return room.startsWith('#') ? room.slice(1) : (await client.rich()).idOf(room);
}
