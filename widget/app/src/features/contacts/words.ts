// Texts about people: the contacts tab, actions on somebody, and strangers.

import { LateWords } from '../../wording/late_words.ts';

export const peopleWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'people',
);
