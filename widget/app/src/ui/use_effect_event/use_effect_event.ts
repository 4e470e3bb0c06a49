// A function for effects that always uses the newest props and state, and never causes an effect to run again.

import { useCallback, useRef } from 'preact/hooks';

/** Like React's `useEffectEvent`. Call the function only in effects and callbacks, never during a render. */
export function useEffectEvent<Arguments extends unknown[], Result>(
  handler: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  const newest = useRef(handler);
  newest.current = handler;
  return useCallback((...given: Arguments) => newest.current(...given), []);
}
