// The few texts that the loader needs before the app and its texts are fetched, in all languages.

import type { Messages } from 'virtual:messages';
import { LANGUAGES } from 'virtual:messages/loader';
import { pluralOf } from 'virtual:messages/plural';

export type Wording = Messages['loader'];

export function wordingFor(lang: string): Wording {
  const language = lang.toLowerCase().split('-')[0] ?? '';
  const known = Object.hasOwn(LANGUAGES, language) ? language : 'en';
  return (LANGUAGES[known] ?? LANGUAGES.en)(pluralOf(known));
}
