// Texts about polls, forwarding, links to messages and threads.

import { LateWords } from '../../wording/late_words.ts';

export const richWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'rich',
);
