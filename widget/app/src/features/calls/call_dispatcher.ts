// The way to the calls: what shall be done is kept until the part that does it has come, with the first of it.

import type { CallRequest } from '@kith/loader/stage';

export interface CallDispatcher {
  /** From here on the part is wanted. */
  wanted(): boolean;
  /** Calls once it is wanted, or not any more. */
  listen(listener: () => void): void;
  say(request: CallRequest): void;
  /** The part has come; the returned function says that it is gone. */
  take(taker: (request: CallRequest) => void): () => void;
  /** It could not be fetched. */
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
      // Without a ring before it, it is of a call that another tab has.
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
