// A transport whose code is fetched when it is needed. Most browsers connect with the first transport and need none.

import type { Link, OpenLink } from './environment.ts';

export function lazyTransport(fetched: () => Promise<OpenLink>): OpenLink {
  return (hello, listener) => {
    let link: Link | undefined;
    let over = false;
    /** The connection bounds this list: it sends nothing before the welcome. */
    const waiting: string[] = [];
    fetched().then(
      open => {
        if (over) return;
        link = open(hello, listener);
        for (const frame of waiting) link.send(frame);
      },
      () => {
        if (!over) listener.closed({});
      },
    );
    return {
      send(frame) {
        if (link) link.send(frame);
        else waiting.push(frame);
      },
      close() {
        over = true;
        link?.close();
      },
    };
  };
}
