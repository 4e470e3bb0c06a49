// State that outlives the page, in the page's own storage. It never contains a token of the site, and nothing
// before the member has signed in. For a guest it contains only the server's own token, and only after the guest
// has sent a message.

import type { TransportName } from './client.ts';
import type { KeyValues } from './environment.ts';
import type { Snapshot } from './snapshot.ts';
import { claims } from './token_claims.ts';

/**
 * Writing a member's cache removes caches of other members that are older than this, so that the next person at this
 * browser does not find them. Two members who use one browser at once, as in the demo, keep both caches.
 */
const OTHERS_MS = 600_000;
/** A larger cache would cost more time at page load than it saves. */
const MAX_CACHE_CHARS = 1_000_000;

/** Everything here is optional: if storage is full, forbidden or damaged, the client starts without stored state. */
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

  /** The token with which the guest of the last visit signs in again. */
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

  /** The transport that worked last, if it worked within the last ten minutes. */
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
      // If storage throws here, nothing was stored before.
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
      // Storage is full or forbidden. No value is better than an outdated one.
      this.#remove(what);
    }
  }

  #remove(what: string): void {
    try {
      this.storage?.removeItem(this.#name(what));
    } catch {
      // Storage is forbidden, so it has no value to remove.
    }
  }
}

function isTransport(name: string | undefined): name is TransportName {
  return name === 'websocket' || name === 'stream' || name === 'sse' || name === 'poll';
}

/** Another version of this file or any script may have written the value. Checks what would throw later. */
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
