// Shared code of the HTTP transports: the POST that carries commands, and the reason for a refusal.

import type { Link, LinkListener } from './environment.ts';
import { readEvents } from './frame.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The maximum number of commands in one POST. The next POST carries the rest. */
const MAX_LINES = 50;
const KEEPALIVE_CHARS = 8_000;

/**
 * One downstream and its POSTs. `listen` opens the downstream and runs until it ends. All parts end together, and the
 * end is reported once.
 */
export class HttpLink implements Link {
  #key: string | undefined;
  #lines: string[] = [];
  #posting = false;
  #failed = false;
  #abort = new AbortController();

  constructor(
    private readonly fetch: Fetch,
    private readonly base: string,
    private readonly listener: LinkListener,
  ) {}

  get over(): boolean {
    return this.#abort.signal.aborted;
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** Sends no cookies: the token in the body, or the session's key, identifies the user. */
  post(path: string, body: string, authorized: boolean): Promise<Response> {
    return this.#fetch(path, body, authorized, { signal: this.#abort.signal });
  }

  #fetch(path: string, body: string, authorized: boolean, more: RequestInit): Promise<Response> {
    return this.fetch(this.base + path, {
      method: 'POST',
      body,
      credentials: 'omit',
      cache: 'no-store',
      ...more,
      ...(authorized && this.#key !== undefined && { headers: { authorization: `Kith ${this.#key}` } }),
    });
  }

  send(frame: string): void {
    this.#lines.push(frame);
    void this.#flush();
  }

  /** Ends the downstream. Commands that were sent before, such as a `bye`, are still posted. */
  close(): void {
    this.#abort.abort();
  }

  event(event: Parameters<LinkListener['event']>[0]): void {
    if (this.over) return;
    if (event.t === 'welcome') this.#key = event.key;
    this.listener.event(event);
    if (event.t === 'welcome') void this.#flush();
  }

  closed(why: Parameters<LinkListener['closed']>[0]): void {
    if (this.over) return;
    this.#failed = true;
    this.close();
    this.listener.closed(why);
  }

  /** Ends the link after an answer that is no success, with the server's reason if it gives one. */
  async refused(response: Response): Promise<void> {
    const [event] = readEvents(await response.text().catch(() => '')) ?? [];
    if (event?.t !== 'bye' && event?.t !== 'error') return this.closed({});
    const { code, retry_after } = event;
    this.closed({ code, ...(retry_after !== undefined && { retryAfter: retry_after }) });
  }

  /** Only one POST is in flight at a time, so that commands keep their order. */
  async #flush(): Promise<void> {
    if (this.#posting || this.#key === undefined) return;
    this.#posting = true;
    try {
      while (this.#lines.length > 0 && !this.#failed) {
        const body = this.#lines.splice(0, MAX_LINES).join('\n');
        // With `keepalive` the POST outlives the page. Browsers allow that for small bodies only.
        const response = await this.#fetch('/v1/send', body, true, {
          keepalive: body.length < KEEPALIVE_CHARS,
        });
        if (!response.ok) await this.refused(response);
      }
    } catch {
      this.closed({});
    } finally {
      this.#posting = false;
    }
  }
}
