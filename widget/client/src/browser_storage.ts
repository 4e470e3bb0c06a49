// State that outlives the page, in the page's own storage: never a token of the site, and nothing before the
// member has signed in. Of a guest, only the server's own token, and that only once they have written to
// somebody.

import type { TransportName } from './client.ts';
import type { KeyValues } from './environment.ts';
import type { Snapshot } from './snapshot.ts';
import { claims } from './token_claims.ts';

/**
 * A cache of another member that is older goes when this one's is written: the next person at this browser is not to
 * find it. Two members at once in one browser, as in the demo, do not drive each other out.
 */
const OTHERS_MS = 600_000;
/** Beyond, the cache is not worth its time at page load. */
const MAX_CACHE_CHARS = 1_000_000;

/** All of it is a convenience: where storage is full, forbidden or damaged, it is as if nothing had been kept. */
export class BrowserStorage {
  constructor(
    private readonly storage: KeyValues | undefined,
    private readonly site: string,
  ) {}

  device(): string | undefined {
    const device = this.#get('device');
    return device !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(device) ? device : undefined;
  }

  keepDevice(device: string): void {
    this.#set('device', device);
  }

  /** By which the guest of last time comes back. */
  guest(now: number): string | undefined {
    const token = this.#get('guest');
    if (token === undefined) return undefined;
    const { sub, exp } = claims(token);
    return sub !== undefined && (exp === undefined || exp > now) ? token : undefined;
  }

  keepGuest(token: string): void {
    this.#set('guest', token);
  }

  forgetGuest(): void {
    this.#remove('guest');
  }

  /** The transport that worked last, if that was within ten minutes. */
  transport(now: number): TransportName | undefined {
    const [name, at] = (this.#get('transport') ?? '').split('@');
    const recent = Math.abs(now - Number(at)) < 600_000;
    return recent && isTransport(name) ? name : undefined;
  }

  keepTransport(name: TransportName, now: number): void {
    if (name === 'websocket') this.#remove('transport');
    else this.#set('transport', `${name}@${now}`);
  }

  cache(user: string): Snapshot | undefined {
    try {
      const text = this.#get(`cache:${user}`) ?? '';
      const value: unknown = JSON.parse(text.slice(text.indexOf(' ') + 1));
      return isSnapshot(value, user) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  keepCache(user: string, snapshot: Snapshot, now: number): void {
    const text = `${now} ${JSON.stringify(snapshot)}`;
    this.#forgetOthers(user, now);
    if (text.length <= MAX_CACHE_CHARS) this.#set(`cache:${user}`, text);
    else this.#remove(`cache:${user}`);
  }

  forget(user: string): void {
    this.#remove(`cache:${user}`);
  }

  #forgetOthers(user: string, now: number): void {
    try {
      const prefix = this.#name('cache:');
      for (const key of this.storage?.keys() ?? []) {
        if (!key.startsWith(prefix) || key === prefix + user) continue;
        const at = Number.parseInt(this.storage?.getItem(key) ?? '', 10);
        if (!(at > now - OTHERS_MS)) this.storage?.removeItem(key);
      }
    } catch {
      // Nothing could be kept either, then.
    }
  }

  #name(what: string): string {
    return `kith:${this.site}:${what}`;
  }

  #get(what: string): string | undefined {
    try {
      return this.storage?.getItem(this.#name(what)) ?? undefined;
    } catch {
      return undefined;
    }
  }

  #set(what: string, value: string): void {
    try {
      this.storage?.setItem(this.#name(what), value);
    } catch {
      // Full or forbidden: an older value would be worse than none.
      this.#remove(what);
    }
  }

  #remove(what: string): void {
    try {
      this.storage?.removeItem(this.#name(what));
    } catch {
      // See above.
    }
  }
}

function isTransport(name: string | undefined): name is TransportName {
  return name === 'websocket' || name === 'stream' || name === 'sse' || name === 'poll';
}

/** Written by an own version of this file, or by nobody we trust: looks where a wrong shape would throw later. */
function isSnapshot(value: unknown, user: string): value is Snapshot {
  if (typeof value !== 'object' || value === null) return false;
  const it: Partial<Record<keyof Snapshot, unknown>> = value;
  const lists = [
    it.conversations,
    it.people,
    it.contacts,
    it.presences,
    it.queue,
    it.drafts,
    it.pending ?? [],
  ];
  const me: { user?: unknown } | undefined = typeof it.me === 'object' && it.me !== null ? it.me : undefined;
  return (
    it.v === 1 &&
    me?.user === user &&
    lists.every(Array.isArray) &&
    [it.main, it.archived, it.contactPages, it.status].every(
      one => typeof one === 'object' && one !== null,
    ) &&
    Array.isArray(it.conversations) &&
    it.conversations.every(one => typeof one?.key === 'string' && Array.isArray(one.stretches))
  );
}
