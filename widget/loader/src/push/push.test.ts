// @vitest-environment happy-dom

import type { Client, Me, NotificationsChange } from '@kith/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KEPT, Push, TELL_AGAIN_MS, UNSEEN_MS } from './push.ts';

/** A browser with a configurable behaviour. */
function browser({
  permission = 'default' as NotificationPermission,
  answer = 'granted' as NotificationPermission,
} = {}) {
  const state = {
    permission,
    subscription: undefined as FakeSubscription | undefined,
    registered: [] as string[],
    closed: [] as string[],
    shown: [] as (string | undefined)[],
    fails: undefined as 'worker' | 'subscribe' | undefined,
    serial: 0,
  };
  class FakeSubscription {
    readonly endpoint = `https://push.example/${++state.serial}`;
    readonly options: { applicationServerKey: ArrayBuffer };
    constructor(key: Uint8Array<ArrayBuffer>) {
      this.options = { applicationServerKey: key.buffer };
    }
    toJSON() {
      return { endpoint: this.endpoint, keys: { p256dh: 'public', auth: 'secret' } };
    }
    async unsubscribe() {
      state.subscription = undefined;
      return true;
    }
  }
  const registration = {
    active: { scriptURL: 'https://forum.example/kith-sw.js?page=%2F' },
    waiting: null,
    installing: null,
    pushManager: {
      getSubscription: async () => state.subscription ?? null,
      subscribe: async ({ applicationServerKey }: { applicationServerKey: Uint8Array<ArrayBuffer> }) => {
        if (state.fails === 'subscribe') throw new Error('no push service');
        state.subscription = new FakeSubscription(applicationServerKey);
        return state.subscription;
      },
    },
    showNotification: async (title: string, { tag }: NotificationOptions) => {
      state.shown.push(`${title} ${tag}`);
    },
    getNotifications: async () =>
      ['kith @ana', 'kith @tom', 'news'].map(tag => ({ tag, close: () => state.closed.push(tag) })),
  };
  const events = new EventTarget();
  vi.stubGlobal('Notification', {
    get permission() {
      return state.permission;
    },
    requestPermission: async () => {
      state.permission = answer;
      return answer;
    },
  });
  vi.stubGlobal('PushManager', class {});
  vi.stubGlobal('navigator', {
    serviceWorker: {
      register: async (url: URL, { scope }: { scope: string }) => {
        if (state.fails === 'worker') throw new TypeError('404');
        state.registered.push(`${url.pathname}${url.search} ${scope}`);
        return registration;
      },
      getRegistrations: async () => (state.registered.length > 0 ? [registration] : []),
      addEventListener: events.addEventListener.bind(events),
      startMessages: () => undefined,
    },
  });
  return {
    state,
    registration,
    click: (kith: unknown) => events.dispatchEvent(new MessageEvent('message', { data: { kith } })),
  };
}

/** The member's client, and the requests that it got. */
function scene(user = 'kim', key: string | null = 'BKey') {
  const changes: NotificationsChange[] = [];
  const opened: string[] = [];
  const listeners = new Map<string, (detail?: unknown) => void>();
  const unread = new Map([['@ana', 0]]);
  const server = { away: false };
  const client = {
    me: () => ({ user }) as Me,
    status: () => ({ state: 'online' }),
    subscribe: () => () => undefined,
    on: (name: string, listener: () => void) => listeners.set(name, listener),
    conversation: (key: string) => ({
      unread: unread.get(key) ?? 1,
      mentions: 0,
      mutedUntil: 0,
      with: { name: 'Tom' },
    }),
    notifications: async (change?: NotificationsChange) => {
      if (server.away) throw new Error('offline');
      if (change) changes.push(change);
      return { devices: 0, bodies: true, ...(key !== null && { key }) };
    },
  } as unknown as Client;
  const totals = () => listeners.get('totals')?.();
  const hear = (key: string, first = true) => listeners.get('message')?.({ key, first });
  const push = new Push({ client, worker: '/kith-sw.js', lang: 'de', open: kith => opened.push(kith) });
  return { push, changes, opened, totals, hear, server };
}

const settle = () => new Promise(resolve => setTimeout(resolve, 0));

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal('location', new URL('https://forum.example/threads/42'));
});
afterEach(() => vi.unstubAllGlobals());

test('turning it on asks the browser, registers the worker and notifies the server', async () => {
  const { state } = browser();
  const { push, changes } = scene();
  expect(push.state()).toBe('off');
  await push.turnOn();
  expect(state.registered).toEqual(['/kith-sw.js?page=%2Fthreads%2F42 /kith/']);
  const endpoint = 'https://push.example/1';
  expect(changes).toEqual([{ subscribe: { endpoint, p256dh: 'public', auth: 'secret', lang: 'de' } }]);
  expect(push.state()).toBe('on');
  await push.turnOff();
  expect(changes.at(-1)).toEqual({ unsubscribe: endpoint });
  expect([push.state(), state.subscription, localStorage.length]).toEqual(['off', undefined, 0]);
});

test('each failure has its own reason', async () => {
  const denied = browser({ answer: 'denied' });
  await expect(scene().push.turnOn()).rejects.toMatchObject({ why: 'blocked' });
  expect([scene().push.state(), denied.state.registered]).toEqual(['blocked', []]);
  const { state } = browser();
  await expect(scene('kim', null).push.turnOn()).rejects.toMatchObject({ why: 'server' });
  state.fails = 'worker';
  await expect(scene().push.turnOn()).rejects.toMatchObject({ why: 'worker' });
  state.fails = 'subscribe';
  await expect(scene().push.turnOn()).rejects.toMatchObject({ why: 'browser' });
  expect([scene().push.state(), localStorage.length]).toEqual(['off', 0]);
});

test('a subscription that the browser has dropped is renewed on the next page', async () => {
  const { state } = browser();
  await scene().push.turnOn();
  await state.subscription?.unsubscribe();
  const next = scene();
  next.push.begin();
  await settle();
  expect(next.changes).toMatchObject([
    { unsubscribe: 'https://push.example/1' },
    { subscribe: { endpoint: 'https://push.example/2' } },
  ]);
  const third = scene();
  third.push.begin();
  await settle();
  expect(third.changes).toEqual([]);
});

test('the subscription is sent again once a day', async () => {
  browser();
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000);
  await scene().push.turnOn();
  const visit = async () => {
    const { push, changes } = scene();
    push.begin();
    await settle();
    return changes;
  };
  now.mockReturnValue(1_000 + TELL_AGAIN_MS - 1);
  expect(await visit()).toEqual([]);
  now.mockReturnValue(1_000 + TELL_AGAIN_MS);
  expect((await visit()).at(-1)).toMatchObject({ subscribe: { endpoint: 'https://push.example/1' } });
  expect(await visit()).toEqual([]);
  now.mockRestore();
});

test('another user in the same browser gets no notices of the first one', async () => {
  const { state } = browser();
  await scene('kim').push.turnOn();
  const other = scene('tom');
  other.push.begin();
  await settle();
  expect([state.subscription, localStorage.getItem(KEPT), other.changes]).toEqual([undefined, null, []]);
  expect(state.closed).toEqual(['kith @ana', 'kith @tom']);
});

test('a click opens the chat, on an open page or on a new one', async () => {
  const { click } = browser();
  const first = scene();
  await first.push.turnOn();
  click('@ana');
  click(5);
  expect(first.opened).toEqual(['@ana']);
  vi.stubGlobal('location', new URL('https://forum.example/#kith=%40a%2Fb'));
  const second = scene();
  second.push.begin();
  expect(second.opened).toEqual(['@a/b']);
});

test('a link is not taken for a notice', async () => {
  browser();
  await scene().push.turnOn();
  for (const hash of ['#kith=8000000000000001.12', '#kith=join.q5Zt0o1VYx7c_8mD-2KfLw']) {
    vi.stubGlobal('location', new URL(`https://forum.example/${hash}`));
    const { push, opened } = scene();
    push.begin();
    expect([opened, location.hash]).toEqual([[], hash]);
  }
});

test('notices of read messages are removed', async () => {
  const { state } = browser();
  const { push, totals } = scene();
  await push.turnOn();
  totals();
  await settle();
  expect(state.closed).toEqual(['kith @ana']);
});

test('while every tab is hidden the page shows notices, at a limited rate', async () => {
  vi.useFakeTimers();
  const { state } = browser();
  const { push, hear } = scene();
  await push.turnOn();
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(false);
  hear('@tom');
  hidden.mockReturnValue(true);
  hear('@tom', false);
  await vi.advanceTimersByTimeAsync(UNSEEN_MS);
  expect(state.shown).toEqual([]);
  hear('@tom');
  hear('@tom');
  hear('@ana');
  await vi.advanceTimersByTimeAsync(UNSEEN_MS);
  expect(state.shown).toEqual(['Tom kith @tom']);
  hear('@tom');
  hidden.mockReturnValue(false);
  await vi.advanceTimersByTimeAsync(UNSEEN_MS);
  expect(state.shown).toHaveLength(1);
  vi.useRealTimers();
});

test('a notice waits for the connection, though not for ever', async () => {
  vi.useFakeTimers();
  const { state } = browser();
  const { push, hear, server } = scene();
  await push.turnOn();
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  server.away = true;
  hear('@tom');
  await vi.advanceTimersByTimeAsync(UNSEEN_MS);
  server.away = false;
  await vi.advanceTimersByTimeAsync(UNSEEN_MS);
  expect(state.shown).toEqual(['Tom kith @tom']);
  server.away = true;
  hear('@tom');
  await vi.advanceTimersByTimeAsync(100 * UNSEEN_MS);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test('a browser without support is reported', () => {
  vi.stubGlobal('navigator', {});
  expect(scene().push.state()).toBe('unsupported');
});
