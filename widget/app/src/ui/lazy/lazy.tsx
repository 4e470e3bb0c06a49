// A part of the interface whose code and texts are fetched on first use.

import type { ComponentType, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useWording } from '../../app_context.tsx';
import type { Fetchable } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';
import { checkBuild } from './build_check.ts';

/** Create one function for each part and reuse it, because the function is the key of the loaded component. */
export type Part<P> = (wording: Wording) => Promise<ComponentType<P>>;

/** Fetches the export `name` of a module. If the module exports `words`, its texts are fetched before use. */
export function lazy<M extends object, N extends keyof M>(
  fetch: () => Promise<M>,
  name: N,
): Part<PropsOf<M[N]>> {
  return async wording => (await fetchLazy(fetch, wording))[name] as ComponentType<PropsOf<M[N]>>;
}

type PropsOf<C> = C extends () => unknown ? object : C extends (props: infer P) => unknown ? P : never;

/** Fetches a module and its texts. It is also for code without a component. */
export async function fetchLazy<M extends object>(fetch: () => Promise<M>, wording: Wording): Promise<M> {
  const module: M & { words?: Fetchable } = await fetch().catch(error => {
    void checkBuild();
    throw error;
  });
  await module.words?.fetch(wording);
  return module;
}

const here = new Map<unknown, ComponentType<never>>();
/** The pending fetches of parts that the member waits for. */
const urgent = new Set<Promise<unknown>>();
const QUIET_MS = 300;

/** Resolves after `QUIET_MS` without an urgent fetch, so that optional parts do not slow down the first chat. */
async function quiet(): Promise<void> {
  do {
    await Promise.allSettled(urgent);
    await new Promise(done => setTimeout(done, QUIET_MS));
  } while (urgent.size > 0);
}

/** Fetches a part ahead of its first use. */
export async function fetchPart<P>(part: Part<P>, wording: Wording): Promise<void> {
  here.set(part, (await part(wording)) as ComponentType<never>);
}

interface Props<P> {
  part: Part<P>;
  props: P;
  /** Shown until the part is loaded. */
  meanwhile?: VNode;
  /** The part is not needed to read and write, so it is fetched after the urgent ones. */
  canWait?: boolean;
  /** Called if the part cannot be fetched. */
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
      // The part may have been loaded since the render. Then this resolves at once and renders the part.
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
