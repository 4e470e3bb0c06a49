// Passes call requests to the lazy part for calls. The first request loads the part, and requests wait
// until it has loaded.

import type { CallRequest } from '@kith/loader/stage';

export interface CallDispatcher {
  /** True if the part must be loaded or is loaded. */
  wanted(): boolean;
  /** `listener` is called when a request starts to wait, and when loading has failed. */
  listen(listener: () => void): void;
  say(request: CallRequest): void;
  /** The loaded part takes all requests with `taker`. The returned function ends this. */
  take(taker: (request: CallRequest) => void): () => void;
  /** The part could not be loaded. Waiting requests are dropped. */
  giveUp(): void;
}

export function createCallDispatcher(): CallDispatcher {
  let changed = () => {};
  let waiting: CallRequest[] = [];
  let taker: ((request: CallRequest) => void) | undefined;
  return {
    wanted: () => taker !== undefined || waiting.length > 0,
    listen(listener) {
      changed = listener;
    },
    say(request) {
      if (taker) return taker(request);
      // Without a waiting ring, the event belongs to a call of another tab.
      if (waiting.length === 0 && request.do === 'hear' && request.event.news !== 'ring') return;
      waiting.push(request);
      changed();
    },
    take(next) {
      taker = next;
      for (const request of waiting.splice(0)) next(request);
      return () => {
        taker = undefined;
      };
    },
    giveUp() {
      waiting = [];
      changed();
    },
  };
}
