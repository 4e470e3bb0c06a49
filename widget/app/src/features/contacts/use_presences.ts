// Counts changes of presence, so that the list of online users is computed again.

import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';

/** Collects changes for this many milliseconds, so that rows move only once. */
const SETTLE = 400;

export function usePresences(): number {
  const client = useClient();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leave = client.subscribe('presences', () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setTurn(before => before + 1);
      }, SETTLE);
    });
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [client]);
  return turn;
}
