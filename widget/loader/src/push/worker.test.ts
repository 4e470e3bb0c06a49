import { expect, test } from 'vitest';
import { type Clicked, type Pushed, serve, type WindowTab, type WorkerScope } from './worker.ts';

interface Shown {
  title: string;
  tag: string;
  body?: string;
  silent?: boolean;
  requireInteraction?: boolean;
}

/** A worker, its shown notices, and the tabs of the browser. */
function scene({ page = '?page=%2Fforum', tabs = [] as Partial<WindowTab>[] } = {}) {
  let shown: Shown[] = [];
  const opened: string[] = [];
  const told: unknown[] = [];
  const later: (() => void)[] = [];
  const listeners = new Map<string, (event: never) => void>();
  const scope: WorkerScope = {
    location: { href: `https://forum.example/kith-sw.js${page}` },
    registration: {
      showNotification: async (title, options) => {
        const tag = options?.tag ?? '';
        shown = shown.filter(one => one.tag !== tag);
        shown.push({
          title,
          tag,
          ...(options?.body !== undefined && { body: options.body }),
          ...(options?.silent && { silent: true }),
          ...(options?.requireInteraction && { requireInteraction: true }),
        });
      },
      getNotifications: async filter =>
        shown
          .filter(one => one.tag === filter?.tag)
          .map(one => ({
            silent: one.silent ?? false,
            close: () => {
              shown = shown.filter(other => other !== one);
            },
          })) as Notification[],
    },
    clients: {
      matchAll: async () =>
        tabs.map(tab => ({
          focused: false,
          visibilityState: 'hidden',
          focus: async () => told.push(`focus ${tab.visibilityState ?? 'hidden'}`),
          postMessage: message => told.push(message),
          ...tab,
        })),
      openWindow: async url => opened.push(url),
    },
    setTimeout: handler => later.push(handler),
    addEventListener: (type: string, listener: (event: never) => void) => listeners.set(type, listener),
  };
  serve(scope);
  const happen = async (type: string, event: object) => {
    let work: Promise<unknown> | undefined;
    const waitUntil = (promise: Promise<unknown>) => {
      work = promise;
    };
    listeners.get(type)?.({ ...event, waitUntil } as never);
    await work;
    return work !== undefined;
  };
  return {
    shown: () => shown,
    opened,
    told,
    pass: async () => {
      for (const handler of later.splice(0)) handler();
      await Promise.resolve();
      await Promise.resolve();
    },
    push: (data: unknown) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return happen('push', { data: { text: () => text } } satisfies Partial<Pushed>);
    },
    click: (tag: string) =>
      happen('notificationclick', {
        notification: { tag, close: () => told.push('closed') },
      } satisfies Partial<Clicked>),
  };
}

test('a notice is shown, replaced by a newer one, and removed after reading', async () => {
  const { push, shown } = scene();
  await push({ kith: '@ana', title: 'Ana', body: 'Hi!', count: 1 });
  await push({ kith: '#8000000000000001', title: 'Bikers', body: 'Tom: Hello', count: 1 });
  await push({ kith: '@ana', title: 'Ana', body: 'Are you there?', count: 2 });
  expect(shown()).toEqual([
    { title: 'Bikers', tag: 'kith #8000000000000001', body: 'Tom: Hello' },
    { title: 'Ana (2)', tag: 'kith @ana', body: 'Are you there?' },
  ]);
  await push({ kith: '@ana' });
  expect(shown().map(one => one.title)).toEqual(['Bikers']);
});

test('a call rings until it is answered elsewhere, which is shown silently and then closed', async () => {
  const { push, shown, pass } = scene();
  const ringing = { kith: '@ana', call: 'ringing', title: 'Ana', body: 'Incoming audio call' };
  await push(ringing);
  expect(shown()).toEqual([
    { title: 'Ana', tag: 'kith @ana', body: 'Incoming audio call', requireInteraction: true },
  ]);
  await push({ kith: '@ana', call: 'over', title: 'Ana', body: 'No longer ringing' });
  expect(shown()).toEqual([{ title: 'Ana', tag: 'kith @ana', body: 'No longer ringing', silent: true }]);
  await pass();
  expect(shown()).toEqual([]);
});

test('a newer notice is not closed with that of a call that is over', async () => {
  const { push, shown, pass } = scene();
  await push({ kith: '@ana', call: 'over', title: 'Ana', body: 'No longer ringing' });
  await push({ kith: '@ana', title: 'Ana', body: 'Call me back', count: 1 });
  await pass();
  expect(shown().map(one => one.body)).toEqual(['Call me back']);
});

test('other pushes are left to the site', async () => {
  const { push, click, shown, told } = scene();
  for (const data of ['', 'not JSON', 'null', '[]', '{"title":"News of the site"}', '{"kith":5,"title":"x"}'])
    expect(await push(data)).toBe(false);
  expect(await click('news')).toBe(false);
  expect([shown(), told]).toEqual([[], []]);
});

test('a click opens the chat in the focused or visible tab', async () => {
  const { click, told, opened } = scene({ tabs: [{}, { visibilityState: 'visible' }] });
  await click('kith @ana');
  expect(told).toEqual(['closed', { kith: '@ana' }, 'focus visible']);
  expect(opened).toEqual([]);
});

test('without a tab it opens the page on which notices were turned on', async () => {
  const at = async (page: string) => {
    const { click, opened } = scene({ page });
    await click('kith @a/b c');
    return opened;
  };
  expect(await at('?page=%2Fforum')).toEqual(['/forum#kith=%40a%2Fb%20c']);
  expect(await at('')).toEqual(['/#kith=%40a%2Fb%20c']);
  expect(await at('?page=https%3A%2F%2Fevil.example')).toEqual(['/#kith=%40a%2Fb%20c']);
  expect(await at('?page=%2F%2Fevil.example')).toEqual(['/#kith=%40a%2Fb%20c']);
});
