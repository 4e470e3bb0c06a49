// A function for effects that always runs with the newest props and state, and never makes an effect run again.

import { useCallback, useRef } from 'preact/hooks';

/** As React's `useEffectEvent`. Call it in effects and callbacks only, never while drawing. */
export function useEffectEvent<Arguments extends unknown[], Result>(
  handler: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  const newest = useRef(handler);
  newest.current = handler;
  return useCallback((...given: Arguments) => newest.current(...given), []);
}
