// The server's id of a room that is on the screen.

import type { Client, ConversationKey } from '@kith/client';

/** A page shows its room before anyone has written there. The room gets its id with the first message. */
export async function idOfRoom(client: Pick<Client, 'rich'>, room: ConversationKey): Promise<string> {
  return room.startsWith('#') ? room.slice(1) : (await client.rich()).idOf(room);
}
