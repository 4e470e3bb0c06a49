// A part of the interface that is fetched when it is used first, and its words with it.

import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useWording } from '../../app_context.tsx';
import type { Fetchable } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';
import { checkBuild } from './build_check.ts';

/** Always the same one for the same part: what it brought is kept for the next. */
export type Part<P> = (wording: Wording) => Promise<ComponentType<P>>;

/** The export `name` of a module. What the module exports as `words` is fetched before anything of it is used. */
export function late<M extends object, N extends keyof M>(
  fetch: () => Promise<M>,
  name: N,
): Part<PropsOf<M[N]>> {
  return async wording => (await fetchLate(fetch, wording))[name] as ComponentType<PropsOf<M[N]>>;
}

type PropsOf<C> = C extends () => unknown ? object : C extends (props: infer P) => unknown ? P : never;

/** Code that is no part of the picture, in the same way. */
export async function fetchLate<M extends object>(fetch: () => Promise<M>, wording: Wording): Promise<M> {
  const module: M & { words?: Fetchable } = await fetch().catch(error => {
    void checkBuild();
    throw error;
  });
  await module.words?.fetch(wording);
  return module;
}

const here = new Map<unknown, ComponentType<never>>();

/** Ahead of time, where there is some. */
export async function fetchPart<P>(part: Part<P>, wording: Wording): Promise<void> {
  here.set(part, (await part(wording)) as ComponentType<never>);
}

interface Props<P> {
  part: Part<P>;
  props: P;
  /** Drawn until it is here. */
  meanwhile?: VNode;
  /** Left out where nobody misses it. */
  onFailed?(): void;
}

export function Late<P extends object>({ part, props, meanwhile, onFailed }: Props<P>) {
  const wording = useWording();
  const [, redraw] = useState(0);
  const Part = here.get(part) as ComponentType<P> | undefined;
  useEffect(() => {
    if (Part !== undefined) return;
    let wanted = true;
    // It may have arrived since it was drawn: then this is done at once, and draws it.
    (here.has(part) ? Promise.resolve() : fetchPart(part, wording)).then(
      () => wanted && redraw(turn => turn + 1),
      () => wanted && onFailed?.(),
    );
    return () => {
      wanted = false;
    };
  }, [part, Part]);
  return Part === undefined ? (meanwhile ?? null) : <Part {...props} />;
}
