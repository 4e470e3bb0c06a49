/** English. */

import type { Plural } from '../wording/wording.ts';

export const en = (plural: Plural) => ({
  searchEverything: 'Search people, rooms, messages',
  searchMessages: 'Search messages',
  searchIn: (name: string) => `Search in ${name}`,
  searchTitle: 'What are you looking for?',
  searchHint: 'The name of somebody or of a room, or words from a message.',
  searchHereHint: 'Type words from the message.',
  nothingFound: (query: string) => `Nothing found for “${query}”`,
  nothingFoundHint: 'Try other words, or only the beginning of one.',
  results: 'Found',
  found: (n: number) => plural(n, { one: '1 result', other: `${n} results` }),
  people: 'People',
  messages: 'Messages',
  backToChat: 'Back to the chat',
});

export type SearchWords = ReturnType<typeof en>;
