/** English. */

import type { Plural } from '../../wording/wording.ts';

export const en = (plural: Plural) => ({
  chatBar: 'Chat bar',
  minimize: 'Minimize',
  moreChats: (n: number) => plural(n, { one: '1 more chat', other: `${n} more chats` }),
});

export type BarWords = ReturnType<typeof en>;
