// Texts of the settings that admins and moderators change for the whole site.

import { LateWords } from '../../wording/late_words.ts';

export const guardWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'guard',
);
