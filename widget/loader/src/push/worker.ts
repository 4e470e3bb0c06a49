// Kith's part of a service worker: shows pushed notices, removes read ones, and leads a click to the chat.

import { fieldsOf } from '../fields_of.ts';

/** Of a service worker's global scope what is used here. TypeScript knows it only without a page. */
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

/** As `docs/protocol.md` says, "Notifications". */
export interface Notice {
  /** `@` and a user, or `#` and a room. */
  kith: string;
  title?: string;
  body?: string;
  icon?: string;
  count?: number;
  time?: number;
  /** `ringing`: `title` is calling now. `over`: no longer. */
  call?: 'ringing' | 'over';
}

/** For so long a call that is over is shown, without a sound. */
export const OVER_MS = 4_000;

/** Begins every tag: a site's worker may show notices of its own. */
export const TAG = 'kith ';

export function serve(scope: WorkerScope): void {
  scope.addEventListener('push', event => {
    const notice = read(event.data?.text());
    if (!notice) return;
    event.waitUntil(show(scope, notice));
    // After the event, not within: browsers want every push to leave a notice (`userVisibleOnly`). A worker that is stopped before
    // leaves one that is true.
    if (notice.call === 'over') scope.setTimeout(() => void closeOver(scope, notice.kith), OVER_MS);
  });
  scope.addEventListener('notificationclick', event => {
    const { tag } = event.notification;
    if (!tag.startsWith(TAG)) return;
    event.notification.close();
    event.waitUntil(lead(scope, tag.slice(TAG.length)));
  });
}

/** Undefined: it is no notice of ours, and somebody else's to look at. */
function read(text: string | undefined): Notice | undefined {
  try {
    const notice: unknown = JSON.parse(text ?? '');
    return isNotice(notice) ? notice : undefined;
  } catch {
    return undefined;
  }
}

/** The server writes the other fields. */
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
    // A call that is over replaces its ringing without a sound.
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

/** A newer notice of the same conversation, which is not silent, stays. */
async function closeOver({ registration }: Pick<WorkerScope, 'registration'>, kith: string): Promise<void> {
  for (const shown of await registration.getNotifications({ tag: TAG + kith }))
    if (shown.silent) shown.close();
}

/** To a tab that is open, the one that is looked at before others; else to a new one. */
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

/** The page on which notices were turned on; a path of the own site and nothing else. */
function pageOf(worker: string): string {
  const page = new URL(worker).searchParams.get('page') ?? '/';
  return /^\/(?![/\\])/.test(page) ? page : '/';
}
