// Words of a part that comes late: fetched with it, in the language of the member and in no other.

import { useWording } from '../app_context.tsx';
import type { LateTranslation } from './translated/late_translation.ts';
import type { Plural, Wording } from './wording.ts';

type Make<W> = (plural: Plural) => W;
type Fetch<W> = () => Promise<Make<W>>;

/** Texts that a module of a late part exports as `words`. `late` loads them before the part is drawn. */
export interface Fetchable {
  fetch(wording: Wording): Promise<unknown>;
}

export class LateWords<W extends object> implements Fetchable {
  #made = new WeakMap<Wording, Wording & W>();

  /**
   * Texts in English and German from the author of the part; the English type is the reference for the
   * others. `name`: the name of the part in the files of translated languages.
   */
  constructor(
    readonly catalogues: { en: Fetch<W> } & Record<string, Fetch<W>>,
    readonly name?: keyof LateTranslation,
  ) {}

  async fetch(wording: Wording): Promise<void> {
    if (this.#made.has(wording)) return;
    const language = wording.language.toLowerCase().split('-', 1)[0] ?? 'en';
    const translated = this.name && (await wording.late?.())?.[this.name];
    const make = translated ?? (await (this.catalogues[language] ?? this.catalogues.en)());
    this.#made.set(wording, { ...wording, ...(make as Make<W>)(wording.plural) });
  }

  /** Together with the shell's own. */
  of(wording: Wording): Wording & W {
    const made = this.#made.get(wording);
    if (made === undefined) throw new Error('drawn before its words were there');
    return made;
  }
}

export function useWords<W extends object>(words: LateWords<W>): Wording & W {
  return words.of(useWording());
}

/** Of a part that needs the words of several. */
export function together(...all: Fetchable[]): Fetchable {
  return { fetch: wording => Promise.all(all.map(one => one.fetch(wording))) };
}
