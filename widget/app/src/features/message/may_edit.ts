// Whether the member may edit a message.

import type { Message } from '@kith/client';

export function mayEdit(message: Message): boolean {
  const { mine, seq, deleted, poll, forwarded, sticker } = message;
  return mine && seq !== undefined && !deleted && !poll && !forwarded && !sticker;
}
