// The trays of all conversations and threads, by client.

import type { Client, ConversationKey } from '@kith/client';
import type { ConversationSource } from '../chat/conversation_source.ts';
import type { Tray } from './upload_tray.ts';

export const trays = new WeakMap<Client, Map<string, Tray>>();

/** A thread has its own tray. */
export function trayName(key: ConversationKey, { thread }: ConversationSource): string {
  return `${key}\n${thread ?? ''}`;
}

export function hasTray(client: Client, key: ConversationKey, source: ConversationSource): boolean {
  return (trays.get(client)?.get(trayName(key, source))?.items.length ?? 0) > 0;
}
