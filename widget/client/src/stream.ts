// The chunked transports: JSON lines, and Server-Sent Events (HTML Living Standard §9.2) for proxies that know those.

import type { OpenLink } from './environment.ts';
import { MAX_FRAME_CHARS, readEvent } from './frame.ts';
import { type Fetch, HttpLink } from './http.ts';

/** JSON lines, with one event per line. */
export function stream(server: string, fetch: Fetch): OpenLink {
  return chunked(server, fetch, '/v1/stream', line => line);
}

/** `EventSource` can neither POST nor set headers, so this reads the format itself; only `data:` is used. */
export function sse(server: string, fetch: Fetch): OpenLink {
  return chunked(server, fetch, '/v1/sse', line =>
    line.startsWith('data:') ? line.slice(line[5] === ' ' ? 6 : 5) : '',
  );
}

function chunked(server: string, fetch: Fetch, path: string, frameOf: (line: string) => string): OpenLink {
  return (hello, listener) => {
    const link = new HttpLink(fetch, server, listener);
    void listen(link, path, hello, frameOf);
    return link;
  };
}

async function listen(
  link: HttpLink,
  path: string,
  hello: string,
  frameOf: (line: string) => string,
): Promise<void> {
  try {
    const response = await link.post(path, hello, false);
    if (!response.ok || !response.body) return await link.refused(response);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done || link.over) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_FRAME_CHARS) break;
      for (const line of lines) {
        const event = readEvent(frameOf(line.endsWith('\r') ? line.slice(0, -1) : line));
        if (event) link.event(event);
      }
    }
  } catch {
    // A network error counts as the end of the link.
  }
  link.closed({});
}
