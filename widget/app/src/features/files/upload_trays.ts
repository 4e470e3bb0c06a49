// Which conversations have files that are about to be sent.

import type { Client, ConversationKey } from '@kith/client';
import type { Tray } from './upload_tray.ts';

export const trays = new WeakMap<Client, Map<ConversationKey, Tray>>();

export function hasTray(client: Client, key: ConversationKey): boolean {
  return (trays.get(client)?.get(key)?.items.length ?? 0) > 0;
}
