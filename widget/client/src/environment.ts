// The environment of the client, as an argument: a browser, or a test with its own clock and random numbers.

import type { TransportName } from './client.ts';
import type { Code, Event } from './wire.ts';

export interface Environment {
  /** Origin and path prefix of the Kith server, without a slash at the end. */
  server: string;
  /** Unix milliseconds. */
  now(): number;
  /** Calls once after `ms`. The returned function cancels the timer. */
  timer(ms: number, call: () => void): () => void;
  /** Calls after the running code and before any other event, as `queueMicrotask` does. */
  soon(call: () => void): void;
  /** In [0, 1). */
  random(): number;
  bytes(count: number): Uint8Array;
  /** Compares names in the order that readers expect. */
  compare(a: string, b: string): number;
  transports: Partial<Record<TransportName, OpenLink>>;
  /** Absent: no state outlives the page. */
  storage?: KeyValues;
  /** If `locks` or `channel` is absent, each tab has its own connection. */
  locks?: Locks;
  channel?(name: string): Channel;
  page: Page;
}

/**
 * Begins one session over one transport with the text of a `hello`. Never throws: each failure is reported by `closed`.
 * After `closed` or `close()` it calls the listener no more.
 */
export type OpenLink = (hello: string, listener: LinkListener) => Link;

export interface Link {
  /** One command as JSON text. Order is kept. */
  send(frame: string): void;
  close(): void;
}

export interface LinkListener {
  event(event: Event): void;
  /** Without a code, the network or a proxy has failed. */
  closed(why: { code?: Code; retryAfter?: number }): void;
}

/** Like `localStorage`. Methods may throw if storage is full or forbidden. */
export interface KeyValues {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  keys(): string[];
}

/** The used part of the Web Locks API. */
export interface Locks {
  /**
   * Calls `held` when this tab gets the lock, and keeps the lock until the promise of `held` settles. `steal` takes it
   * from its holder. The result rejects if another tab steals the lock, or if `signal` ends the waiting.
   */
  request(
    name: string,
    options: { steal?: boolean; signal?: AbortSignal },
    held: () => Promise<void>,
  ): Promise<void>;
}

/** A BroadcastChannel: delivers posts to other channels of the same name and origin, but not to the sender. */
export interface Channel {
  post(message: unknown): void;
  listen(listener: (message: unknown) => void): void;
  close(): void;
}

export interface Page {
  visible(): boolean;
  /** The page has the focus. */
  focused(): boolean;
  online(): boolean;
  listen(listener: (what: PageEvent) => void): () => void;
}

/** `leaving`: the page is left, perhaps for ever. `restored`: it returned from the back-forward cache or was frozen. */
export type PageEvent = 'visible' | 'focused' | 'hidden' | 'restored' | 'leaving' | 'online' | 'offline';
