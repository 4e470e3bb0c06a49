// Texts of the tab about oneself.

import { LateWords } from '../../wording/late_words.ts';

export const meWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'me',
);
