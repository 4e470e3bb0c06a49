// The text that names the users who are typing.

import type { Client } from '@kith/client';
import type { Wording } from '../../wording/wording.ts';

export function typingText(words: Wording, users: readonly string[], client: Client): string {
  const [first = '', second = ''] = users.slice(0, 2).map(user => client.person(user).name);
  return words.areTyping({ count: users.length, first, second });
}
