// Notices while the site is closed: the subscription of this browser, and clicks on notices.

import type { Client, ConversationKey, PushSubscribing } from '@kith/client';
import { fieldsOf } from '../fields_of.ts';
import { isWorthANotice, noticeOf } from './local_notifications.ts';
import { show, TAG } from './worker.ts';

export interface PushHost {
  client: Client;
  /** Address of the service worker on the page's own origin. */
  worker: string;
  lang: string;
  /** Opens a chat: `@` and a user, or `#` and a room. */
  open(kith: string): void;
}

/** `blocked`: the browser's settings forbid notifications. `unsupported`: the browser has no support for push. */
export type PushState = 'on' | 'off' | 'blocked' | 'unsupported';

/** Why notifications could not be turned on. `worker`: the site has no service worker for them. */
export class PushError extends Error {
  constructor(readonly why: 'blocked' | 'worker' | 'server' | 'browser') {
    super(why);
  }
}

/** The key in `localStorage`. Set while notices are on in this browser; the loader checks it. */
export const KEPT = 'kith.push';

interface Kept {
  user: string;
  endpoint: string;
  /** When the subscription was last sent to the server, in Unix milliseconds. */
  told?: number;
}

/** Send the subscription again after this time: a new server, or a sign-out of this device, may have lost it. */
export const TELL_AGAIN_MS = 24 * 3_600_000;

/** The delay of a notice: the member may read the message in this time. The server waits as long. */
export const UNSEEN_MS = 4_000;
const MOST_LOOKS = 5;

export class Push {
  #begun = false;
  /** Conversations with a message that arrived while the page was hidden. */
  #unseen = new Map<ConversationKey, ReturnType<typeof setTimeout>>();

  readonly #onMessage = ({ data }: MessageEvent): void => {
    const { kith } = fieldsOf(data);
    if (typeof kith === 'string') this.host.open(kith);
  };

  constructor(private readonly host: PushHost) {}

  /** Call it when the page has no widget. The browser's subscription stays. */
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

  /** Call it in a click handler: browsers ask for permission only after a click. */
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

  /** Ends notices in this browser: the member has signed out, or another user has signed in. */
  async leave(): Promise<void> {
    forget();
    const registration = await this.#registration();
    // The push service reports the end of the subscription to the server at its next push.
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
    for (const shown of (await registration?.getNotifications()) ?? [])
      if (shown.tag.startsWith(TAG)) shown.close();
  }

  /** Call it on each page: if notices are on, keeps the subscription alive and handles clicks on notices. */
  begin(): void {
    if (this.state() !== 'on') return;
    this.#listen();
    const { client } = this.host;
    let done = false;
    const look = () => {
      const user = client.me()?.user;
      if (done || user === undefined || client.status().state !== 'online') return;
      done = true;
      // Browsers drop subscriptions, and servers are moved. After a failure the next page tries again.
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
      // The request for the settings fails without a connection, so try again later.
      this.#tellUnseen(key).catch(() => this.#lookLater(key, looks - 1));
    };
    this.#unseen.set(key, setTimeout(look, UNSEEN_MS));
  }

  /** Shows a notice. The server pushes nothing while a page is connected, also if the page is hidden. */
  async #tellUnseen(key: ConversationKey): Promise<void> {
    const { client } = this.host;
    const worth = () => document.hidden && this.state() === 'on' && isWorthANotice(client, key, Date.now());
    if (!worth()) return;
    const settings = await client.notifications();
    const registration = await this.#registration();
    const notice = noticeOf(client, key, settings, new Date());
    if (registration && notice && worth()) await show({ registration }, notice);
  }

  /** Removes notices of messages that were read in this browser, without the server. */
  async #clearRead(): Promise<void> {
    const registration = await this.#registration();
    for (const shown of (await registration?.getNotifications()) ?? []) {
      const key = shown.tag.slice(TAG.length) as ConversationKey;
      if (shown.tag.startsWith(TAG) && this.host.client.conversation(key).unread === 0) shown.close();
    }
  }

  /** The registration of our worker, or of the site's worker that includes ours. */
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
    // A scope without pages, so that it does not replace a worker that the site has for its pages.
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
  // The subscription belongs to another server. A registration can have only one.
  await there?.unsubscribe();
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  } catch {
    throw new PushError('browser');
  }
}

/** Waits until the worker is active, because only an active worker can subscribe. */
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
    // Storage is forbidden, so it has no data.
  }
}
