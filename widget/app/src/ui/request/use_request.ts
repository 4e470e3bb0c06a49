// Loads something from the server, and says whether it is loading, failed or there.

import { useCallback, useEffect, useState } from 'preact/hooks';
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

function useIsConnecting(): boolean {
  const { state } = useTopic('status', one => one.status());
  return state === 'idle' || state === 'connecting';
}

/**
 * The state of a list that the client keeps. A page that was asked for before the first connection has not failed: it loads with
 * the connection.
 */
export function useListState(list: { loading: boolean; failed: boolean }) {
  const isConnecting = useIsConnecting();
  return {
    loading: list.loading || (list.failed && isConnecting),
    failed: list.failed && !isConnecting,
  };
}

/** Without `load` it asks for nothing, and is not loading. While the first connection is being made it waits. */
export function useRequest<T>(
  load: Load<T> | undefined,
  { delay = 0, keep = false, refresh = false }: RequestOptions = {},
): Request<T> {
  const client = useClient();
  const isConnecting = useIsConnecting();
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
