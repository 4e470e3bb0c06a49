// Kith's part of a service worker: shows pushed notices, removes read ones, and opens the chat after a click.

import { fieldsOf } from '../fields_of.ts';

/** The used part of a service worker's global scope. TypeScript's types for it exclude those of a page. */
export interface WorkerScope {
  readonly location: { readonly href: string };
  readonly registration: Pick<ServiceWorkerRegistration, 'showNotification' | 'getNotifications'>;
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<readonly WindowTab[]>;
    openWindow(url: string): Promise<unknown>;
  };
  setTimeout(handler: () => void, ms: number): unknown;
  addEventListener(type: 'push', listener: (event: Pushed) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: Clicked) => void): void;
}

export interface WindowTab {
  readonly focused: boolean;
  readonly visibilityState: string;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

export interface Pushed {
  readonly data: { text(): string } | null;
  waitUntil(work: Promise<unknown>): void;
}

export interface Clicked {
  readonly notification: Pick<Notification, 'tag' | 'close'>;
  waitUntil(work: Promise<unknown>): void;
}

/** A notice as in `docs/protocol.md`, "Notifications". */
export interface Notice {
  /** `@` and a user, or `#` and a room. */
  kith: string;
  title?: string;
  body?: string;
  icon?: string;
  count?: number;
  time?: number;
  /** `ringing`: `title` is calling now. `over`: the call no longer rings. */
  call?: 'ringing' | 'over';
}

/** The notice of a call that is over stays for this time, without a sound. */
export const OVER_MS = 4_000;

/** The prefix of every tag, because a site's worker may show its own notices. */
export const TAG = 'kith ';

export function serve(scope: WorkerScope): void {
  scope.addEventListener('push', event => {
    const notice = read(event.data?.text());
    if (!notice) return;
    event.waitUntil(show(scope, notice));
    // Close it after the event: browsers require that every push shows a notice (`userVisibleOnly`). If the worker is
    // stopped before that, the notice stays, and it is still true.
    if (notice.call === 'over') scope.setTimeout(() => void closeOver(scope, notice.kith), OVER_MS);
  });
  scope.addEventListener('notificationclick', event => {
    const { tag } = event.notification;
    if (!tag.startsWith(TAG)) return;
    event.notification.close();
    event.waitUntil(lead(scope, tag.slice(TAG.length)));
  });
}

/** Undefined if it is no notice of Kith. Then the site's own worker handles it. */
function read(text: string | undefined): Notice | undefined {
  try {
    const notice: unknown = JSON.parse(text ?? '');
    return isNotice(notice) ? notice : undefined;
  } catch {
    return undefined;
  }
}

/** Checks only `kith`: if it is a string, the server has written the notice, so the other fields are valid. */
function isNotice(value: unknown): value is Notice {
  return typeof fieldsOf(value).kith === 'string';
}

export async function show(
  { registration }: Pick<WorkerScope, 'registration'>,
  notice: Notice,
): Promise<void> {
  const tag = TAG + notice.kith;
  if (notice.title === undefined) {
    for (const shown of await registration.getNotifications({ tag })) shown.close();
    return;
  }
  const { title, body, icon, count = 1, time, call } = notice;
  const options = {
    tag,
    // The notice of a call that is over replaces the ringing one without a sound.
    renotify: call !== 'over',
    silent: call === 'over',
    requireInteraction: call === 'ringing',
    ...(body !== undefined && { body }),
    ...(icon !== undefined && { icon }),
    ...(time !== undefined && { timestamp: time }),
  };
  await registration.showNotification(
    count > 1 ? `${title} (${count})` : title,
    options as NotificationOptions,
  );
}

/** Closes silent notices only: a newer notice of the same conversation is not silent, and stays. */
async function closeOver({ registration }: Pick<WorkerScope, 'registration'>, kith: string): Promise<void> {
  for (const shown of await registration.getNotifications({ tag: TAG + kith }))
    if (shown.silent) shown.close();
}

/** Opens the chat in an open tab, preferably the focused or a visible one, or else in a new tab. */
async function lead({ clients, location }: WorkerScope, kith: string): Promise<void> {
  const tabs = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const tab = tabs.find(one => one.focused) ?? tabs.find(one => one.visibilityState === 'visible') ?? tabs[0];
  if (tab === undefined) {
    await clients.openWindow(`${pageOf(location.href)}#kith=${encodeURIComponent(kith)}`);
    return;
  }
  tab.postMessage({ kith });
  await tab.focus();
}

/** The path of the page on which notices were turned on. Only paths of the own site are accepted. */
function pageOf(worker: string): string {
  const page = new URL(worker).searchParams.get('page') ?? '/';
  return /^\/(?![/\\])/.test(page) ? page : '/';
}
