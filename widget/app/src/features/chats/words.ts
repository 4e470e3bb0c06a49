// Texts of actions on a chat.

import { LateWords } from '../../wording/late_words.ts';

export const chatWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'chats',
);
