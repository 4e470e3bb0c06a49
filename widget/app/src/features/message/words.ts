// Texts of actions on a message, and reasons why it was not sent.

import { LateWords } from '../../wording/late_words.ts';

export const messageWords = new LateWords(
  {
    en: () => import('./words.en.ts').then(one => one.en),
    de: () => import('./words.de.ts').then(one => one.de),
  },
  'message',
);
