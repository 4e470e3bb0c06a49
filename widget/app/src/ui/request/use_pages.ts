// Loads a list from the server page by page.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Request, type RequestOptions, useRequest } from './use_request.ts';

export interface Page<T> {
  items: readonly T[];
  /** The cursor of the next page; undefined at the end of the list. */
  next?: string | undefined;
}

/** Memoize this function, because a new function starts a new list. */
export type LoadPage<T> = (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

export interface Pages<T> extends Omit<Request<Page<T>>, 'data' | 'update'> {
  /** The items of all loaded pages; undefined until the first page is loaded. */
  data: readonly T[] | undefined;
  hasMore: boolean;
  /** The state of the next page. */
  more: 'idle' | 'loading' | 'failed';
  /** Loads the next page, if there is one and it is not loading yet. */
  loadMore(): void;
  update(change: (items: readonly T[]) => readonly T[]): void;
}

/** Loads a list page by page on demand. A new `load` starts a new list. */
export function usePages<T>(load: LoadPage<T> | undefined, options?: RequestOptions): Pages<T> {
  const loadFirst = useCallback(
    (signal: AbortSignal): Promise<Page<T>> => load?.(undefined, signal) ?? Promise.resolve({ items: [] }),
    [load],
  );
  const { data: page, update, ...request } = useRequest(load && loadFirst, options);
  const [more, setMore] = useState<Pages<T>['more']>('idle');
  const leaving = useRef<AbortController>(undefined);
  const next = page?.next;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list cancels the next page of the previous one
  useEffect(() => {
    setMore('idle');
    return () => {
      leaving.current?.abort();
      leaving.current = undefined;
    };
  }, [load]);

  const loadNext = useCallback(async () => {
    if (load === undefined || next === undefined || leaving.current !== undefined) return;
    const here = new AbortController();
    leaving.current = here;
    setMore('loading');
    try {
      const { items, next: after } = await load(next, here.signal);
      if (here.signal.aborted) return;
      // If the first page was loaded again meanwhile, the list starts again, so drop this page.
      update(before => (before.next === next ? { items: [...before.items, ...items], next: after } : before));
      setMore('idle');
    } catch {
      if (here.signal.aborted) return;
      setMore('failed');
    }
    leaving.current = undefined;
  }, [load, next, update]);
  const loadMore = useCallback(() => void loadNext(), [loadNext]);
  const updateItems = useCallback(
    (change: (items: readonly T[]) => readonly T[]) =>
      update(before => ({ ...before, items: change(before.items) })),
    [update],
  );
  return {
    ...request,
    data: page?.items,
    hasMore: next !== undefined,
    more,
    loadMore,
    update: updateItems,
  };
}
