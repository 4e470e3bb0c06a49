/** German. */

import type { Plural } from '../../wording/wording.ts';
import type { BarWords } from './words.en.ts';

export const de = (plural: Plural): BarWords => ({
  chatBar: 'Chatleiste',
  minimize: 'Minimieren',
  moreChats: n => plural(n, { one: '1 weiterer Chat', other: `${n} weitere Chats` }),
});
