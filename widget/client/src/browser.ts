// The environment of a page in a browser. Importing this file reads and writes nothing.

import type { Channel, Environment, KeyValues, Locks, Page, PageEvent } from './environment.ts';
import { lazyTransport } from './lazy_transport.ts';
import { type Socket, websocket } from './websocket.ts';

/** `server`: origin and path prefix of the Kith server, without a slash at the end. */
export function browserEnvironment(server: string): Environment {
  const call = fetch.bind(window);
  const storage = ownStorage();
  const locks = ownLocks();
  const collator = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true });
  return {
    server,
    now: () => Date.now(),
    timer: (ms, call) => {
      // A longer delay would overflow and fire at once. The caller checks the clock and sets the timer again.
      const id = setTimeout(call, Math.min(ms, 2 ** 31 - 1));
      return () => clearTimeout(id);
    },
    soon: call => queueMicrotask(call),
    random: () => Math.random(),
    bytes: count => crypto.getRandomValues(new Uint8Array(count)),
    compare: (a, b) => collator.compare(a, b),
    transports: {
      websocket: websocket(server, (url, protocol) => new WebSocket(url, protocol) as Socket),
      // Without readable bodies (old Safari, some web views) the only other transport is polling.
      ...('body' in Response.prototype && {
        stream: lazyTransport(async () => (await import('./stream.ts')).stream(server, call)),
        sse: lazyTransport(async () => (await import('./stream.ts')).sse(server, call)),
      }),
      poll: lazyTransport(async () => (await import('./poll.ts')).poll(server, call)),
    },
    ...(storage && { storage }),
    ...(locks && { locks }),
    ...(typeof BroadcastChannel === 'function' && { channel: (name: string) => broadcast(name) }),
    page: ownPage(),
  };
}

/** The page's storage. The getter itself throws if the member's browser forbids storage. */
function ownStorage(): KeyValues | undefined {
  try {
    const { localStorage } = window;
    return {
      getItem: key => localStorage.getItem(key),
      setItem: (key, value) => localStorage.setItem(key, value),
      removeItem: key => localStorage.removeItem(key),
      keys: () => Object.keys(localStorage),
    };
  } catch {
    return undefined;
  }
}

/** Only secure contexts have Web Locks, and sandboxed frames refuse them. */
function ownLocks(): Locks | undefined {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined || window.origin === 'null') return undefined;
  return { request: (name, options, held) => locks.request(name, options, held).then(() => undefined) };
}

function broadcast(name: string): Channel {
  const channel = new BroadcastChannel(name);
  return {
    post: message => channel.postMessage(message),
    listen: listener => {
      channel.onmessage = event => listener(event.data);
    },
    close: () => channel.close(),
  };
}

function ownPage(): Page {
  return {
    visible: () => document.visibilityState === 'visible',
    focused: () => document.hasFocus(),
    online: () => navigator.onLine !== false,
    listen: listener => {
      const stop = new AbortController();
      const { signal } = stop;
      const say = (what: PageEvent) => () => listener(what);
      const visibility = () => listener(document.visibilityState === 'visible' ? 'visible' : 'hidden');
      document.addEventListener('visibilitychange', visibility, { signal });
      window.addEventListener('focus', say('focused'), { signal });
      window.addEventListener('online', say('online'), { signal });
      window.addEventListener('offline', say('offline'), { signal });
      window.addEventListener('pagehide', say('leaving'), { signal });
      document.addEventListener('freeze', say('leaving'), { signal });
      document.addEventListener('resume', say('restored'), { signal });
      // When a page returns from the back-forward cache, iOS Safari fires this event and not `visibilitychange`.
      window.addEventListener('pageshow', event => event.persisted && listener('restored'), { signal });
      return () => stop.abort();
    },
  };
}
