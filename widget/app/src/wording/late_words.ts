// The texts of lazy parts in the member's language. One request fetches all of them, and another one those of the parts
// that few members open.

import type { LateNamespace, Messages, RareNamespace } from 'virtual:messages';
import { useWording } from '../app_context.tsx';
import type { Wording } from './wording.ts';

/** The type of a lazy module's export `words`. `fetchLazy` fetches these texts before the module is used. */
export interface Fetchable {
  fetch(wording: Wording): Promise<unknown>;
}

type Namespace = LateNamespace | RareNamespace;
type Words<N extends Namespace> = Wording & Messages[N];

class Lazy {
  #words = new Map<Namespace, object>();

  constructor(
    readonly wording: Wording,
    readonly texts: Partial<Messages>,
  ) {}

  of<N extends Namespace>(namespace: N): Words<N> {
    const texts = this.texts[namespace];
    if (texts === undefined) throw new Error(`the texts of ${namespace} are not fetched yet`);
    const made = this.#words.get(namespace) ?? { ...this.wording, ...texts };
    this.#words.set(namespace, made);
    return made as Words<N>;
  }
}

const fetched = new WeakMap<Wording, Lazy>();

export const lateWords: Fetchable = {
  async fetch(wording) {
    if (!fetched.has(wording)) fetched.set(wording, new Lazy(wording, await wording.fetchLazy()));
  },
};

/** The texts of the namespaces in `RARE` (`scripts/messages/catalogue.mjs`), and all others. */
export const rareWords: Fetchable = {
  async fetch(wording) {
    const [rare] = await Promise.all([wording.fetchRare(), lateWords.fetch(wording)]);
    Object.assign(fetched.get(wording)?.texts ?? {}, rare);
  },
};

/** The texts of a namespace, together with those of the shell. */
export function wordsOf<N extends Namespace>(wording: Wording, namespace: N): Words<N> {
  const late = fetched.get(wording);
  if (late === undefined) throw new Error('the late texts are not fetched yet');
  return late.of(namespace);
}

export function useWords<N extends Namespace>(namespace: N): Words<N> {
  return wordsOf(useWording(), namespace);
}
