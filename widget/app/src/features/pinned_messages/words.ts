// The texts of the bars above the messages: pinned ones, unread ones.

import { LateWords } from '../../wording/late_words.ts';

export const pinWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'pins',
);
