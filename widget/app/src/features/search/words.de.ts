/** German. */

import type { Plural } from '../../wording/wording.ts';
import type { SearchWords } from './words.en.ts';

export const de = (plural: Plural): SearchWords => ({
  searchEverything: 'Leute, Räume, Nachrichten suchen',
  searchMessages: 'Nachrichten suchen',
  searchIn: name => `Suchen in ${name}`,
  searchTitle: 'Was suchst du?',
  searchHint: 'Der Name von jemandem oder eines Raums, oder Wörter aus einer Nachricht.',
  searchHereHint: 'Gib Wörter aus der Nachricht ein.',
  nothingFound: query => `Nichts gefunden für „${query}“`,
  nothingFoundHint: 'Versuche andere Wörter, oder nur den Anfang von einem.',
  results: 'Gefunden',
  found: n => plural(n, { one: '1 Treffer', other: `${n} Treffer` }),
  people: 'Leute',
  messages: 'Nachrichten',
  backToChat: 'Zurück zum Chat',
});
