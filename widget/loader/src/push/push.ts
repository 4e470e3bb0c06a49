// Notices while the site is closed: this browser's subscription, and what a click on a notice opens.

import type { Client, ConversationKey, PushSubscribing } from '@kith/client';
import { fieldsOf } from '../fields_of.ts';
import { isWorthANotice, noticeOf } from './local_notifications.ts';
import { show, TAG } from './worker.ts';

export interface PushHost {
  client: Client;
  /** Address of the service worker on the page's own origin. */
  worker: string;
  lang: string;
  /** `@` and a user, or `#` and a room. */
  open(kith: string): void;
}

/** `blocked`: the browser does not allow it, and only there it can be changed. `unsupported`: it cannot do it. */
export type PushState = 'on' | 'off' | 'blocked' | 'unsupported';

/** Why turning it on did not work. `worker`: the site has no service worker for it. */
export class PushError extends Error {
  constructor(readonly why: 'blocked' | 'worker' | 'server' | 'browser') {
    super(why);
  }
}

/** Written when the member turns notices on in this browser, and read by the loader. */
export const KEPT = 'kith.push';

interface Kept {
  user: string;
  endpoint: string;
  /** When the server was told, Unix milliseconds. */
  told?: number;
}

/** The server may have lost it: the member has signed this device out and in again, or it is another server. */
export const TELL_AGAIN_MS = 24 * 3_600_000;

/** A member who returns to the page, or reads on another device, needs no notice. The server waits as long. */
export const UNSEEN_MS = 4_000;
const MOST_LOOKS = 5;

export class Push {
  #begun = false;
  /** Conversations in which something has come while nobody looked. */
  #unseen = new Map<ConversationKey, ReturnType<typeof setTimeout>>();

  readonly #onMessage = ({ data }: MessageEvent): void => {
    const { kith } = fieldsOf(data);
    if (typeof kith === 'string') this.host.open(kith);
  };

  constructor(private readonly host: PushHost) {}

  /** The page has no widget any more. The browser's subscription stays. */
  end(): void {
    navigator.serviceWorker?.removeEventListener('message', this.#onMessage);
    for (const timer of this.#unseen.values()) clearTimeout(timer);
    this.#unseen.clear();
  }

  state(): PushState {
    if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window))
      return 'unsupported';
    if (Notification.permission === 'denied') return 'blocked';
    return Notification.permission === 'granted' && kept() ? 'on' : 'off';
  }

  /** Call it in the member's own click: browsers ask for leave only then. */
  async turnOn(): Promise<void> {
    if ((await Notification.requestPermission()) !== 'granted') throw new PushError('blocked');
    const user = this.host.client.me()?.user;
    const { key } = await this.host.client.notifications();
    if (key === undefined || user === undefined) throw new PushError('server');
    const registration = await this.#register();
    await this.#tell(await subscribe(registration, key), user);
    this.#listen();
  }

  async turnOff(): Promise<void> {
    const endpoint = kept()?.endpoint;
    await this.leave();
    if (endpoint !== undefined) await this.host.client.notifications({ unsubscribe: endpoint });
  }

  /** The member has signed out, or somebody else is here: nothing more is shown in this browser. */
  async leave(): Promise<void> {
    forget();
    const registration = await this.#registration();
    // Its push service tells the server that it is gone, if nobody else does.
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
    for (const shown of (await registration?.getNotifications()) ?? [])
      if (shown.tag.startsWith(TAG)) shown.close();
  }

  /** On each page where notices are on: keeps the subscription alive, and does what was clicked. */
  begin(): void {
    if (this.state() !== 'on') return;
    this.#listen();
    const { client } = this.host;
    let done = false;
    const look = () => {
      const user = client.me()?.user;
      if (done || user === undefined || client.status().state !== 'online') return;
      done = true;
      // Browsers drop subscriptions, and servers are moved: what fails now is tried on the next page.
      this.#refresh(user).catch(() => undefined);
    };
    client.subscribe('status', look);
    client.subscribe('me', look);
    look();
  }

  async #refresh(user: string): Promise<void> {
    const known = kept();
    const registration = await this.#registration();
    if (known?.user !== user || registration === undefined) return this.leave();
    const there = await registration.pushManager.getSubscription();
    const same = there?.endpoint === known.endpoint;
    if (same && Date.now() - (known.told ?? 0) < TELL_AGAIN_MS) return;
    const { key } = await this.host.client.notifications(same ? {} : { unsubscribe: known.endpoint });
    if (key === undefined) return this.leave();
    await this.#tell(there ?? (await subscribe(registration, key)), user);
  }

  async #tell(subscription: PushSubscription, user: string): Promise<void> {
    const { endpoint, keys } = subscription.toJSON();
    if (endpoint === undefined || !keys?.p256dh || !keys.auth) throw new PushError('browser');
    const subscribing: PushSubscribing = {
      endpoint,
      p256dh: keys.p256dh,
      auth: keys.auth,
      lang: this.host.lang,
    };
    await this.host.client.notifications({ subscribe: subscribing });
    keep({ user, endpoint, told: Date.now() });
  }

  #listen(): void {
    if (this.#begun) return;
    this.#begun = true;
    const { client, open } = this.host;
    navigator.serviceWorker.addEventListener('message', this.#onMessage);
    navigator.serviceWorker.startMessages();
    const clicked = /^#kith=(%(?:40|23).+)$/.exec(location.hash)?.[1];
    if (clicked !== undefined) {
      history.replaceState(history.state, '', location.pathname + location.search);
      open(decodeURIComponent(clicked));
    }
    client.on('totals', () => void this.#clearRead());
    client.on('message', ({ key, first }) => {
      if (first && document.hidden) this.#lookLater(key);
    });
  }

  #lookLater(key: ConversationKey, looks = MOST_LOOKS): void {
    if (this.#unseen.has(key) || looks === 0) return;
    const look = () => {
      this.#unseen.delete(key);
      // The connection may be away for a moment, and with it the answer whether the member wants to be told.
      this.#tellUnseen(key).catch(() => this.#lookLater(key, looks - 1));
    };
    this.#unseen.set(key, setTimeout(look, UNSEEN_MS));
  }

  /** For the server a page that is open and hidden is here, and nothing is pushed: the notice comes from the page itself. */
  async #tellUnseen(key: ConversationKey): Promise<void> {
    const { client } = this.host;
    const worth = () => document.hidden && this.state() === 'on' && isWorthANotice(client, key, Date.now());
    if (!worth()) return;
    const settings = await client.notifications();
    const registration = await this.#registration();
    const notice = noticeOf(client, key, settings, new Date());
    if (registration && notice && worth()) await show({ registration }, notice);
  }

  /** Notices of messages that were read in this browser are removed without the server. */
  async #clearRead(): Promise<void> {
    const registration = await this.#registration();
    for (const shown of (await registration?.getNotifications()) ?? []) {
      const key = shown.tag.slice(TAG.length) as ConversationKey;
      if (shown.tag.startsWith(TAG) && this.host.client.conversation(key).unread === 0) shown.close();
    }
  }

  /** The worker's own, or one of the site's that serves us too. */
  async #registration(): Promise<ServiceWorkerRegistration | undefined> {
    const path = new URL(this.host.worker, location.href).pathname;
    const all = await navigator.serviceWorker.getRegistrations();
    return all.find(one => {
      const worker = one.active ?? one.waiting ?? one.installing;
      return worker !== null && new URL(worker.scriptURL).pathname === path;
    });
  }

  async #register(): Promise<ServiceWorkerRegistration> {
    const there = await this.#registration();
    if (there) return active(there);
    const url = new URL(this.host.worker, location.href);
    // A scope in which there are no pages: a worker that the site has for its pages stays what it is.
    const scope = new URL('kith/', url).pathname;
    url.searchParams.set('page', location.pathname);
    try {
      return await active(await navigator.serviceWorker.register(url, { scope }));
    } catch {
      throw new PushError('worker');
    }
  }
}

async function subscribe(registration: ServiceWorkerRegistration, key: string): Promise<PushSubscription> {
  const applicationServerKey = bytesOf(key);
  const there = await registration.pushManager.getSubscription();
  const theirs = there?.options.applicationServerKey;
  if (there && theirs && String(new Uint8Array(theirs)) === String(applicationServerKey)) return there;
  // Of another server: a browser has one at a time.
  await there?.unsubscribe();
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  } catch {
    throw new PushError('browser');
  }
}

/** Only an active worker can subscribe. */
function active(registration: ServiceWorkerRegistration): Promise<ServiceWorkerRegistration> {
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || worker === null) return Promise.resolve(registration);
  return new Promise((resolve, reject) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated') resolve(registration);
      if (worker.state === 'redundant') reject(new PushError('worker'));
    });
  });
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, letter => letter.charCodeAt(0));
}

function kept(): Kept | undefined {
  try {
    const { user, endpoint, told } = fieldsOf(JSON.parse(localStorage.getItem(KEPT) ?? 'null'));
    if (typeof user !== 'string' || typeof endpoint !== 'string') return undefined;
    return { user, endpoint, ...(typeof told === 'number' && { told }) };
  } catch {
    return undefined;
  }
}

function keep(what: Kept): void {
  localStorage.setItem(KEPT, JSON.stringify(what));
}

function forget(): void {
  try {
    localStorage.removeItem(KEPT);
  } catch {
    // Forbidden: nothing is kept either.
  }
}
