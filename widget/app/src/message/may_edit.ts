// Whose text may be changed.

import type { Message } from '@kith/client';

export function mayEdit(message: Message): boolean {
  return message.mine && message.seq !== undefined && !message.deleted;
}
