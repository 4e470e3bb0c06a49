// Loads data from the server and returns its state: loading, failed or loaded.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { useClient, useTopic } from '../../app_context.tsx';

/** Memoize this function, because a new function is a new request. The signal aborts a request that is obsolete. */
export type Load<T> = (signal: AbortSignal) => Promise<T>;

export interface Request<T> {
  /** Undefined until the data is loaded. It stays during a reload. */
  data: T | undefined;
  loading: boolean;
  failed: boolean;
  /** The error of the last load, if that load failed. */
  error: unknown;
  retry(): void;
  /** Changes the loaded data, for example after a change that the server has confirmed. */
  update(change: (data: T) => T): void;
}

export interface RequestOptions {
  /** Milliseconds to wait before a request, because members type faster than the server answers. */
  delay?: number;
  /** Keeps the data of the previous request until this one has a response. */
  keep?: boolean;
  /** Loads again after a reconnect, because changes may have been missed. A failed request always does so. */
  refresh?: boolean;
}

interface Answer<T> {
  load: Load<T> | undefined;
  turn: number;
  data?: T | undefined;
  failed: boolean;
  error?: unknown;
}

function useIsConnecting(): boolean {
  const { state } = useTopic('status', one => one.status());
  return /idle|connecting|waiting/.test(state);
}

/**
 * The state of a list that the client keeps. A page that was requested without a connection counts as loading and not
 * as failed, because the client loads it after connecting.
 */
export function useListState(list: { loading: boolean; failed: boolean }) {
  const isConnecting = useIsConnecting();
  return {
    loading: list.loading || (list.failed && isConnecting),
    failed: list.failed && !isConnecting,
  };
}

/** Without `load`, it sends no request and is not loading. It waits for the first connection. */
export function useRequest<T>(
  load: Load<T> | undefined,
  { delay = 0, keep = false, refresh = false }: RequestOptions = {},
): Request<T> {
  const client = useClient();
  const isConnecting = useIsConnecting();
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<Answer<T>>({ load: undefined, turn: 0, failed: false });
  const isSame = answer.load === load;
  // A failed request is sent again on the next connection.
  const isAnswered = isSame && answer.turn === turn && !(answer.failed && isConnecting);
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
