// The transport that works through every proxy: long polling, where one request waits for the next events.

import type { OpenLink } from './environment.ts';
import { readEvents } from './frame.ts';
import { type Fetch, HttpLink } from './http.ts';

export function poll(server: string, fetch: Fetch): OpenLink {
  return (hello, listener) => {
    const link = new HttpLink(fetch, server, listener);
    void listen(link, hello);
    return link;
  };
}

async function listen(link: HttpLink, hello: string): Promise<void> {
  try {
    for (let body = hello; !link.over; body = '') {
      const first = body !== '';
      if (!first && link.key === undefined) break;
      const response = await link.post('/v1/poll', body, !first);
      if (!response.ok) return await link.refused(response);
      const events = readEvents(await response.text());
      if (events === undefined) break;
      for (const event of events) link.event(event);
      // An empty answer shows that the server is alive.
      if (events.length === 0) link.event({ t: 'heartbeat' });
    }
  } catch {
    // A network error counts as the end of the link.
  }
  link.closed({});
}
