// A part of the interface that is fetched when it is used first, and its words with it.

import type { ComponentType, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useWording } from '../../app_context.tsx';
import type { Fetchable } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';
import { checkBuild } from './build_check.ts';

/** Always the same one for the same part: what it brought is kept for the next. */
export type Part<P> = (wording: Wording) => Promise<ComponentType<P>>;

/** The export `name` of a module. What the module exports as `words` is fetched before anything of it is used. */
export function lazy<M extends object, N extends keyof M>(
  fetch: () => Promise<M>,
  name: N,
): Part<PropsOf<M[N]>> {
  return async wording => (await fetchLazy(fetch, wording))[name] as ComponentType<PropsOf<M[N]>>;
}

type PropsOf<C> = C extends () => unknown ? object : C extends (props: infer P) => unknown ? P : never;

/** Code that is no part of the picture, in the same way. */
export async function fetchLazy<M extends object>(fetch: () => Promise<M>, wording: Wording): Promise<M> {
  const module: M & { words?: Fetchable } = await fetch().catch(error => {
    void checkBuild();
    throw error;
  });
  await module.words?.fetch(wording);
  return module;
}

const here = new Map<unknown, ComponentType<never>>();
/** Parts that somebody waits for. */
const urgent = new Set<Promise<unknown>>();
const QUIET_MS = 300;

/** Fulfilled when nothing urgent has been on its way for a moment: what can wait must not slow down the first chat. */
async function quiet(): Promise<void> {
  do {
    await Promise.allSettled(urgent);
    await new Promise(done => setTimeout(done, QUIET_MS));
  } while (urgent.size > 0);
}

/** Ahead of time, where there is some. */
export async function fetchPart<P>(part: Part<P>, wording: Wording): Promise<void> {
  here.set(part, (await part(wording)) as ComponentType<never>);
}

interface Props<P> {
  part: Part<P>;
  props: P;
  /** Drawn until it is here. */
  meanwhile?: VNode;
  /** One can read and write without it: it is fetched after everything else. */
  canWait?: boolean;
  /** Left out where nobody misses it. */
  onFailed?(): void;
}

export function Lazy<P extends object>({ part, props, meanwhile, canWait, onFailed }: Props<P>) {
  const wording = useWording();
  const [, redraw] = useState(0);
  const Part = here.get(part) as ComponentType<P> | undefined;
  const failed = useRef(onFailed);
  failed.current = onFailed;
  useEffect(() => {
    if (Part !== undefined) return;
    let wanted = true;
    const fetched = async () => {
      if (canWait) await quiet();
      // It may have arrived since it was drawn: then this is done at once, and draws it.
      if (wanted && !here.has(part)) await fetchPart(part, wording);
    };
    const coming = fetched();
    if (!canWait) {
      urgent.add(coming);
      coming.catch(() => undefined).then(() => urgent.delete(coming));
    }
    coming.then(
      () => wanted && redraw(turn => turn + 1),
      () => wanted && failed.current?.(),
    );
    return () => {
      wanted = false;
    };
  }, [part, Part, canWait, wording]);
  return Part === undefined ? (meanwhile ?? null) : <Part {...props} />;
}
