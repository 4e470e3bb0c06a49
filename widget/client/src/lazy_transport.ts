// A transport whose code is fetched when it is needed: most browsers get through with the first one and never need it.

import type { Link, OpenLink } from './environment.ts';

export function lazyTransport(fetched: () => Promise<OpenLink>): OpenLink {
  return (hello, listener) => {
    let link: Link | undefined;
    let over = false;
    /** Bounded by the connection, which says nothing before the welcome. */
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
