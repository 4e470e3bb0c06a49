// Shared code of the HTTP transports: the POST that carries commands, and the reason of a refusal.

import type { Link, LinkListener } from './environment.ts';
import { readEvents } from './frame.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Most commands in one POST; the rest goes with the next. */
const MAX_LINES = 50;
const KEEPALIVE_CHARS = 8_000;

/**
 * One downstream and its POSTs. `listen` opens the downstream and runs until it is over; everything ends together,
 * and is reported once.
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

  /** Never cookies: the token in the body says who it is. */
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

  /** The downstream ends; what was sent before still goes up, a `bye` above all. */
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

  /** An answer that is no success ends the link, with the server's reason if it gives one. */
  async refused(response: Response): Promise<void> {
    const [event] = readEvents(await response.text().catch(() => '')) ?? [];
    if (event?.t !== 'bye' && event?.t !== 'error') return this.closed({});
    const { code, retry_after } = event;
    this.closed({ code, ...(retry_after !== undefined && { retryAfter: retry_after }) });
  }

  /** One POST in flight, so that order is kept. */
  async #flush(): Promise<void> {
    if (this.#posting || this.#key === undefined) return;
    this.#posting = true;
    try {
      while (this.#lines.length > 0 && !this.#failed) {
        const body = this.#lines.splice(0, MAX_LINES).join('\n');
        // It may outlive the page; browsers allow that for little.
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
