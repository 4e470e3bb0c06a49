// Texts about finished calls, and about the start of one.

import { LateWords } from '../../wording/late_words.ts';

export const callLogWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'callLog',
);
