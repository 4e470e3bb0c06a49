/** English. */

export const en = () => ({
  stickers: 'Stickers',
  searchEmoji: 'Search emoji',
  skinTone: 'Skin tone',
  recentEmoji: 'Recently used',
  noEmoji: (query: string) => `No emoji for “${query}”`,
  emojiCategories: 'Categories',
  emojiGroups: {
    faces: 'Faces',
    people: 'People and gestures',
    hearts: 'Hearts and symbols',
    nature: 'Animals and nature',
    food: 'Food and drink',
    travel: 'Travel and places',
    things: 'Activities and things',
  },
});

export type EmojiWords = ReturnType<typeof en>;
