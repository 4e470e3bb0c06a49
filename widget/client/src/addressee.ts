// The address of a conversation in a command.

import type { ConversationKey } from './client.ts';
import type { SendTo } from './wire.ts';

export function addressee(key: ConversationKey): SendTo {
  const name = key.slice(1);
  if (key[0] === '#') return { conversation: name };
  return key[0] === '~' ? { page: name } : { user: name };
}
