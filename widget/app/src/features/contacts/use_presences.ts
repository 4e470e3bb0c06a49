// Counts changes of presence, so that who is online is put together anew.

import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';

/** A wave of changes moves the rows once. */
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
