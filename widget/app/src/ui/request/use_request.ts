// Loads something from the server, and says whether it is loading, failed or there.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useClient, useTopic } from '../../app_context.tsx';

/** Memoise it: another function is another request. The signal ends when nobody waits for the answer any more. */
export type Load<T> = (signal: AbortSignal) => Promise<T>;

export interface Request<T> {
  /** Undefined until it is loaded. It stays while it is loaded again. */
  data: T | undefined;
  loading: boolean;
  failed: boolean;
  /** Why the last load failed. */
  error: unknown;
  retry(): void;
  /** Changes what is loaded, as after a change that the server has confirmed. */
  update(change: (data: T) => T): void;
}

export interface RequestOptions {
  /** Waits so many milliseconds before asking: typing goes faster than the server answers. */
  delay?: number;
  /** The data of the request before stays until this one is answered. */
  keep?: boolean;
  /** Loads again after a lost connection, because changes were missed meanwhile. A failed request does so anyway. */
  refresh?: boolean;
}

interface Answer<T> {
  load: Load<T> | undefined;
  turn: number;
  data?: T | undefined;
  failed: boolean;
  error?: unknown;
}

/** Without `load` it asks for nothing, and is not loading. While the first connection is being made it waits. */
export function useRequest<T>(
  load: Load<T> | undefined,
  { delay = 0, keep = false, refresh = false }: RequestOptions = {},
): Request<T> {
  const client = useClient();
  const { state } = useTopic('status', one => one.status());
  const isConnecting = state === 'idle' || state === 'connecting';
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<Answer<T>>({ load: undefined, turn: 0, failed: false });
  const isSame = answer.load === load;
  const isAnswered = isSame && answer.turn === turn;
  const failed = isAnswered && answer.failed;

  useEffect(() => {
    if (load === undefined || isConnecting) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    const ask = async () => {
      try {
        const data = await load(signal);
        if (!signal.aborted) setAnswer({ load, turn, data, failed: false });
      } catch (error) {
        if (signal.aborted) return;
        setAnswer(before => ({
          load,
          turn,
          data: keep || before.load === load ? before.data : undefined,
          failed: true,
          error,
        }));
      }
    };
    if (delay === 0) void ask();
    const timer = delay === 0 ? undefined : setTimeout(ask, delay);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [load, turn, isConnecting, delay, keep]);

  useEffect(() => {
    if (!failed && !refresh) return;
    let wasOnline = client.status().state === 'online';
    return client.subscribe('status', () => {
      const isOnline = client.status().state === 'online';
      if (isOnline && !wasOnline) setTurn(before => before + 1);
      wasOnline = isOnline;
    });
  }, [client, failed, refresh]);

  const retry = useCallback(() => setTurn(before => before + 1), []);
  const update = useCallback(
    (change: (data: T) => T) =>
      setAnswer(before =>
        before.load !== load || before.data === undefined ? before : { ...before, data: change(before.data) },
      ),
    [load],
  );
  return {
    data: isSame || keep ? answer.data : undefined,
    loading: load !== undefined && !isAnswered,
    failed,
    error: failed ? answer.error : undefined,
    retry,
    update,
  };
}

export interface Page<T> {
  items: readonly T[];
  /** Where the next page begins. */
  next?: string | undefined;
}

/** Memoise it: another function is another list. */
export type LoadPage<T> = (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

export interface Pages<T> extends Omit<Request<Page<T>>, 'data' | 'update'> {
  /** The items of all loaded pages; undefined until the first page is loaded. */
  data: readonly T[] | undefined;
  hasMore: boolean;
  /** Of the next page. */
  more: 'idle' | 'loading' | 'failed';
  /** Loads the next page, if there is one that is not being loaded. */
  loadMore(): void;
  update(change: (items: readonly T[]) => readonly T[]): void;
}

/** A list in pages, as far as it is looked at. Begins anew with each `load`. */
export function usePages<T>(load: LoadPage<T> | undefined, options?: RequestOptions): Pages<T> {
  const loadFirst = useCallback(
    (signal: AbortSignal): Promise<Page<T>> => load?.(undefined, signal) ?? Promise.resolve({ items: [] }),
    [load],
  );
  const { data: page, update, ...request } = useRequest(load && loadFirst, options);
  const [more, setMore] = useState<Pages<T>['more']>('idle');
  const leaving = useRef<AbortController>(undefined);
  const next = page?.next;

  // The next page of another list is not wanted any more.
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
      // A first page that was loaded again meanwhile begins the list anew.
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
