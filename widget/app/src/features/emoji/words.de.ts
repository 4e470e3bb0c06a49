/** German. */

import type { EmojiWords } from './words.en.ts';

export const de = (): EmojiWords => ({
  stickers: 'Sticker',
  searchEmoji: 'Emoji suchen',
  skinTone: 'Hautfarbe',
  recentEmoji: 'Zuletzt benutzt',
  noEmoji: query => `Kein Emoji für „${query}“`,
  emojiCategories: 'Kategorien',
  emojiGroups: {
    faces: 'Gesichter',
    people: 'Leute und Gesten',
    hearts: 'Herzen und Zeichen',
    nature: 'Tiere und Natur',
    food: 'Essen und Trinken',
    travel: 'Reisen und Orte',
    things: 'Freizeit und Dinge',
  },
});
