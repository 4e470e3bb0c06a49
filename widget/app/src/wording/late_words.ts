// The texts of lazy parts in the member's language. One request fetches all of them.

import type { LateMessages, LateNamespace, Messages } from 'virtual:messages';
import { useWording } from '../app_context.tsx';
import type { Wording } from './wording.ts';

/** The type of a lazy module's export `words`. `fetchLazy` fetches these texts before the module is used. */
export interface Fetchable {
  fetch(wording: Wording): Promise<unknown>;
}

type Words<N extends LateNamespace> = Wording & Messages[N];

class Lazy {
  #words = new Map<LateNamespace, object>();

  constructor(
    readonly wording: Wording,
    readonly texts: LateMessages,
  ) {}

  of<N extends LateNamespace>(namespace: N): Words<N> {
    const made = this.#words.get(namespace) ?? { ...this.wording, ...this.texts[namespace] };
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

/** The texts of a namespace, together with those of the shell. */
export function wordsOf<N extends LateNamespace>(wording: Wording, namespace: N): Words<N> {
  const late = fetched.get(wording);
  if (late === undefined) throw new Error('the late texts are not fetched yet');
  return late.of(namespace);
}

export function useWords<N extends LateNamespace>(namespace: N): Words<N> {
  return wordsOf(useWording(), namespace);
}
