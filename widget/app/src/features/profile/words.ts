// Texts about profiles, privacy and one's own account.

import { LateWords } from '../../wording/late_words.ts';

export const profileWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'profile',
);
