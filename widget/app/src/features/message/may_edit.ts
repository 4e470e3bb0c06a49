// Whether the member may edit a message.

import type { Message } from '@kith/client';

export function mayEdit(message: Message): boolean {
  const { mine, seq, deleted, opaque, poll, forwarded, sticker } = message;
  return mine && seq !== undefined && !deleted && !opaque && !poll && !forwarded && !sticker;
}
