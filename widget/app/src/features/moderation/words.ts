// Texts about requests, reports, moderators and sanctions.

import { LateWords } from '../../wording/late_words.ts';

export const safetyWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'safety',
);
