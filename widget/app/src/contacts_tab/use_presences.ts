// Counts changes of presence among some users, so that "Online now" is put together anew.

import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../surroundings.tsx';

/** A wave of changes moves the rows once. */
const SETTLE = 400;

export function usePresences(users: readonly string[]): number {
  const client = useClient();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setTurn(before => before + 1);
      }, SETTLE);
    };
    const leaves = users.map(user => client.subscribe(`presence:${user}`, look));
    return () => {
      clearTimeout(timer);
      for (const leave of leaves) leave();
    };
  }, [client, users]);
  return turn;
}
