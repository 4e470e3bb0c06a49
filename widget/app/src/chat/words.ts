// What is said about pinned messages.

import { LateWords } from '../wording/late_words.ts';

export const pinWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'pins',
);
