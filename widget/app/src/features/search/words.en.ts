/** English. */

import type { Plural } from '../../wording/wording.ts';

export const en = (plural: Plural) => ({
  searchEverything: 'Search people, rooms, messages',
  searchMessages: 'Search messages',
  searchIn: (name: string) => `Search in ${name}`,
  searchTitle: 'Search',
  searchHint: 'Find people, rooms and messages.',
  searchHereHint: 'Enter words from the message.',
  nothingFound: (query: string) => `No results for “${query}”`,
  nothingFoundHint: 'Try other words or the start of a word.',
  results: 'Results',
  found: (n: number) => plural(n, { one: '1 result', other: `${n} results` }),
  people: 'People',
  messages: 'Messages',
  backToChat: 'Back to chat',
});

export type SearchWords = ReturnType<typeof en>;
