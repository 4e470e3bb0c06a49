// A browser for tests: tabs that share locks, channels and storage, on virtual time.

import type { Client } from '../src/client.ts';
import type { Channel, Environment, KeyValues, Locks, OpenLink, PageEvent } from '../src/environment.ts';
import { createClient } from '../src/member.ts';
import { type Clock, chance } from './clock.ts';
import { tokenOf } from './server.ts';

export class Browser {
  readonly storage = new Map<string, string>();
  readonly tabs: Tab[] = [];
  #locks = new Map<string, LockQueue>();
  #channels = new Map<string, Set<FakeChannel>>();
  #random: () => number;
  /** Whether the browser has no Web Locks. */
  old = false;
  delay = () => 1;

  constructor(
    readonly clock: Clock,
    private readonly open: OpenLink,
    seed = 1,
  ) {
    this.#random = chance(seed);
  }

  tab(
    user: string | undefined,
    more: { user?: string; token?: () => Promise<string | undefined> } = {},
  ): Tab {
    const tab = new Tab(this, this.open, this.#random);
    const token = () => Promise.resolve(user === undefined ? undefined : tokenOf(user));
    tab.client = createClient({ site: 'demo', token, ...more }, tab.environment());
    this.tabs.push(tab);
    return tab;
  }

  keyValues(tab: Tab): KeyValues {
    return {
      getItem: key => this.storage.get(key) ?? null,
      setItem: (key, value) => {
        if (!tab.dead) this.storage.set(key, value);
      },
      removeItem: key => this.storage.delete(key),
      keys: () => [...this.storage.keys()],
    };
  }

  locks(tab: Tab): Locks {
    return {
      request: (name, options, held) => {
        const queue = this.#locks.get(name) ?? new LockQueue();
        this.#locks.set(name, queue);
        return queue.request(tab, options, held);
      },
    };
  }

  channel(name: string, tab: Tab): Channel {
    const all = this.#channels.get(name) ?? new Set();
    this.#channels.set(name, all);
    let busyUntil = 0;
    const channel = new FakeChannel(tab, message => {
      const copy = structuredClone(message);
      // Messages of one tab keep their order.
      busyUntil = Math.max(busyUntil, this.clock.now + this.delay());
      this.clock.timer(busyUntil - this.clock.now, () => {
        for (const one of all) if (one !== channel) one.hear(structuredClone(copy));
      });
    });
    all.add(channel);
    tab.atDeath.push(() => all.delete(channel));
    channel.atClose = () => all.delete(channel);
    return channel;
  }

  release(tab: Tab): void {
    for (const queue of this.#locks.values()) queue.drop(tab);
  }
}

export class Tab {
  client!: Client;
  visible = true;
  focused = false;
  online = true;
  dead = false;
  /** The tab runs no code, but it keeps its locks, and events wait until it thaws. */
  frozen = false;
  #waiting: (() => void)[] = [];
  readonly atDeath: (() => void)[] = [];
  #listeners = new Set<(what: PageEvent) => void>();

  constructor(
    private readonly browser: Browser,
    private readonly open: OpenLink,
    private readonly random: () => number,
  ) {}

  run(call: () => void): void {
    if (this.dead) return;
    if (this.frozen) this.#waiting.push(call);
    else call();
  }

  thaw(): void {
    this.frozen = false;
    for (const call of this.#waiting.splice(0)) call();
  }

  /** The process is killed, without an event to the page. */
  crash(): void {
    this.dead = true;
    for (const one of this.atDeath) one();
    this.browser.release(this);
  }

  /** The member leaves the page. */
  close(): void {
    this.say('leaving');
    this.crash();
  }

  say(what: PageEvent): void {
    if (what === 'visible' || what === 'hidden') this.visible = what === 'visible';
    if (what === 'focused') for (const one of this.browser.tabs) one.focused = one === this;
    if (what === 'online' || what === 'offline') this.online = what === 'online';
    for (const one of this.#listeners) one(what);
  }

  environment(): Environment {
    const { browser } = this;
    const alive =
      <A extends unknown[]>(call: (...args: A) => void) =>
      (...args: A) => {
        this.run(() => call(...args));
      };
    const open: OpenLink = (hello, listener) => {
      const link = this.open(hello, { event: alive(listener.event), closed: alive(listener.closed) });
      this.atDeath.push(() => link.close());
      return link;
    };
    return {
      now: () => browser.clock.now,
      timer: (ms, call) => browser.clock.timer(ms, alive(call)),
      soon: call => queueMicrotask(alive(call)),
      random: this.random,
      bytes: count => Uint8Array.from({ length: count }, () => Math.floor(this.random() * 256)),
      compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
      server: 'https://im.example',
      transports: { websocket: open },
      storage: browser.keyValues(this),
      ...(!browser.old && { locks: browser.locks(this) }),
      channel: name => browser.channel(name, this),
      page: {
        visible: () => this.visible,
        focused: () => this.focused,
        online: () => this.online,
        listen: listener => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
      },
    };
  }
}

class FakeChannel implements Channel {
  #listener: (message: unknown) => void = () => undefined;
  atClose = () => undefined as unknown;

  constructor(
    readonly tab: Tab,
    private readonly send: (message: unknown) => void,
  ) {}

  post = (message: unknown) => {
    if (!this.tab.dead) this.send(message);
  };

  listen = (listener: (message: unknown) => void) => {
    this.#listener = listener;
  };

  hear(message: unknown): void {
    this.tab.run(() => this.#listener(message));
  }

  close = () => {
    this.atClose();
  };
}

interface Claim {
  tab: Tab;
  held: () => Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** One lock of the Web Locks API: requests are served in order, unless one steals the lock. */
class LockQueue {
  #holder: Claim | undefined;
  #queue: Claim[] = [];

  request(
    tab: Tab,
    options: { steal?: boolean; signal?: AbortSignal },
    held: () => Promise<void>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const claim = { tab, held, resolve, reject };
      options.signal?.addEventListener('abort', () => {
        if (!this.#queue.includes(claim)) return;
        this.#queue = this.#queue.filter(one => one !== claim);
        reject(new Error('aborted'));
      });
      if (options.steal) {
        const robbed = this.#holder;
        robbed?.tab.run(() => robbed.reject(new Error('stolen')));
        this.#holder = undefined;
        this.#queue.unshift(claim);
      } else this.#queue.push(claim);
      this.#next();
    });
  }

  drop(tab: Tab): void {
    this.#queue = this.#queue.filter(one => one.tab !== tab);
    if (this.#holder?.tab === tab) this.#holder = undefined;
    this.#next();
  }

  #next(): void {
    if (this.#holder) return;
    const claim = this.#queue.shift();
    if (!claim) return;
    this.#holder = claim;
    queueMicrotask(() => {
      if (this.#holder !== claim) return;
      claim.held().then(() => {
        if (this.#holder === claim) this.#holder = undefined;
        claim.resolve();
        this.#next();
      });
    });
  }
}
