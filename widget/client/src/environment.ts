// The environment of the client, as an argument: a browser, or a test with its own time and chance.

import type { TransportName } from './client.ts';
import type { Code, Event } from './wire.ts';

export interface Environment {
  /** Origin and path prefix of the Kith server, without a slash at the end. */
  server: string;
  /** Unix milliseconds. */
  now(): number;
  /** Calls once after `ms`; returns the way to call it off. */
  timer(ms: number, call: () => void): () => void;
  /** Calls after the running code, before anything else happens. */
  soon(call: () => void): void;
  /** In [0, 1). */
  random(): number;
  bytes(count: number): Uint8Array;
  /** Order of names for people. */
  compare(a: string, b: string): number;
  transports: Partial<Record<TransportName, OpenLink>>;
  /** Absent: nothing outlives the page. */
  storage?: KeyValues;
  /** Absent, one of them: each tab has its own connection. */
  locks?: Locks;
  channel?(name: string): Channel;
  page: Page;
}

/**
 * Begins one session over one transport with the text of a `hello`. Never throws; what goes wrong is `closed`.
 * After `closed` or `close()` it says nothing more.
 */
export type OpenLink = (hello: string, listener: LinkListener) => Link;

export interface Link {
  /** One command as JSON text. Order is kept. */
  send(frame: string): void;
  close(): void;
}

export interface LinkListener {
  event(event: Event): void;
  /** Without a code: the network or something in between. */
  closed(why: { code?: Code; retryAfter?: number }): void;
}

/** Like `localStorage`; may throw where it is full or forbidden. */
export interface KeyValues {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  keys(): string[];
}

/** Web Locks, as much as is needed. */
export interface Locks {
  /**
   * Calls `held` once the lock is ours and keeps it until the promise of `held` settles. `steal` takes it from
   * its holder. The result rejects where the lock was stolen from us, or `signal` ended the waiting.
   */
  request(
    name: string,
    options: { steal?: boolean; signal?: AbortSignal },
    held: () => Promise<void>,
  ): Promise<void>;
}

/** A BroadcastChannel: others of the same name and origin hear what is posted, oneself does not. */
export interface Channel {
  post(message: unknown): void;
  listen(listener: (message: unknown) => void): void;
  close(): void;
}

export interface Page {
  visible(): boolean;
  /** The member is at this page now. */
  focused(): boolean;
  online(): boolean;
  listen(listener: (what: PageEvent) => void): () => void;
}

/** `leaving`: put away, perhaps for ever. `restored`: back from the back-forward cache or from being frozen. */
export type PageEvent = 'visible' | 'focused' | 'hidden' | 'restored' | 'leaving' | 'online' | 'offline';
