// A part of the interface that is fetched when it is used first.

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface Props<P> {
  /** The same function each time: what it brought is kept for the next. */
  part(): Promise<ComponentType<P>>;
  props: P;
  onFailed(): void;
}

const here = new Map<unknown, ComponentType<never>>();

/** Ahead of time, where there is some. */
export async function fetchPart<P>(part: () => Promise<ComponentType<P>>): Promise<void> {
  here.set(part, (await part()) as ComponentType<never>);
}

export function Late<P extends object>({ part, props, onFailed }: Props<P>) {
  const [, arrived] = useState(0);
  const Part = here.get(part) as ComponentType<P> | undefined;
  useEffect(() => {
    if (here.has(part)) return;
    let wanted = true;
    fetchPart(part).then(
      () => wanted && arrived(turn => turn + 1),
      () => wanted && onFailed(),
    );
    return () => {
      wanted = false;
    };
  }, [part]);
  return Part === undefined ? null : <Part {...props} />;
}
