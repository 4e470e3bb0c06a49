// @vitest-environment happy-dom

import type { Client, ClientEvents, ConversationKey, Status, Totals } from '@kith/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Kith } from './kith.ts';
import { createKith, LINGER_MS, type Parts } from './page_api.ts';
import type { TagSettings } from './settings.ts';
import type { App, Stage } from './stage.ts';

const TOKEN = 'aaa.bbb.ccc';
const attachShadow = HTMLElement.prototype.attachShadow;
const opened: Kith[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  for (const kith of opened.splice(0)) kith.destroy();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('rooms', () => {
  test('a page opens a room by its name', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    page.kith.openRoom('/thread/42');
    await settle();
    expect(page.app.calls).toEqual(['room /thread/42']);
  });

  test('an embedded room opens by itself in idle time, in its element and without a button', async () => {
    const page = open({ tokenUrl: '/tok', mode: 'embed', room: 'r1' }, 200);
    expect(page.fetched).toEqual([]);
    expect(page.button().hidden).toBe(true);
    await page.idle();
    await settle();
    expect(page.app.calls).toEqual(['room r1']);
    expect(document.querySelector('kith-widget')?.hasAttribute('data-embedded')).toBe(true);
  });
});

describe('links to a page', () => {
  afterEach(() => history.replaceState(null, '', '/'));

  test('a link is followed, also on a loaded page; the link of a notice is not', async () => {
    history.replaceState(null, '', '/#kith=8000000000000001.12');
    const page = open({ tokenUrl: '/tok' }, 200);
    await settle();
    for (const hash of ['#kith=join.q5Zt0o1VYx7c_8mD-2KfLw', '#kith=%40ana', '#comments']) {
      history.replaceState(null, '', hash);
      dispatchEvent(new Event('hashchange'));
    }
    await settle();
    expect(page.app.calls).toEqual([
      'link #kith=8000000000000001.12',
      'link #kith=join.q5Zt0o1VYx7c_8mD-2KfLw',
    ]);
  });
});

describe('an invitation that waits for the sign-in', () => {
  const HASH = '#kith=join.q5Zt0o1VYx7c_8mD-2KfLw';
  beforeEach(() => sessionStorage.setItem('kith:invitation', HASH));
  afterEach(() => sessionStorage.clear());
  const connected: Status = { state: 'online', shared: false };

  test('it waits for the connection, and is then shown once', async () => {
    await open({ tokenUrl: '/tok' }, 401).idle();
    expect(sessionStorage.getItem('kith:invitation')).toBe(HASH);
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    for (const state of ['connecting', 'online', 'waiting', 'online'] as const) {
      page.client.become({ ...connected, state });
      await settle();
    }
    expect(page.app.calls).toEqual([`link ${HASH}`]);
    expect(sessionStorage.getItem('kith:invitation')).toBe(null);
  });

  test('a room in a page does not show it', async () => {
    const page = open({ tokenUrl: '/tok', mode: 'embed', room: 'r1' }, 200);
    await page.idle();
    page.client.become(connected);
    await settle();
    expect(page.app.calls).toEqual(['room r1']);
    expect(sessionStorage.getItem('kith:invitation')).toBe(HASH);
  });
});

describe('the next page of this tab', () => {
  beforeEach(() => sessionStorage.clear());
  afterEach(() => sessionStorage.clear());
  const online: Status = { state: 'online', shared: false };
  const leave = () => dispatchEvent(new Event('pagehide'));

  /** Ana opens the panel and leaves the page. Then the next page is loaded, where `user` is signed in. */
  async function next(user: string, status = 200) {
    const before = open({ tokenUrl: '/tok' }, 200);
    before.kith.open();
    await settle();
    before.client.user = 'ana';
    leave();
    const page = open({ tokenUrl: '/tok' }, status);
    await page.idle();
    page.client.user = user;
    page.client.become(online);
    await settle();
    return { before, page };
  }

  test('has the panel open as it was', async () => {
    expect((await next('ana')).page.app.calls).toEqual([
      'reopen {"tab":"chats","chat":"@ben","expanded":false}',
    ]);
  });

  test('opens a list at most, if another script has written into the storage', async () => {
    for (const panel of ['null', '3', '{"tab":"x","chat":{"a":1},"expanded":"yes"}', '{"chat":"@"}']) {
      sessionStorage.setItem('kith:garden:panel', `{"user":"ana","panel":${panel}}`);
      const page = open({ tokenUrl: '/tok' }, 200);
      page.client.user = 'ana';
      await page.idle();
      expect(page.app.calls).toEqual(['reopen {"tab":"chats","expanded":false}']);
    }
  });

  test('has it closed if another user or nobody is signed in', async () => {
    const other = await next('ben');
    expect(other.page.app.calls).toEqual([]);
    expect(sessionStorage.length).toBe(0);
    const nobody = await next('ana', 204);
    expect([nobody.page.app.calls, nobody.page.fetched]).toEqual([[], []]);
  });

  test('has it closed after the member has closed it, or signed out', async () => {
    const { page } = await next('ana');
    page.kith.close();
    await settle();
    leave();
    expect(sessionStorage.length).toBe(0);
    const again = await next('ana');
    again.page.kith.setToken(null);
    expect(sessionStorage.length).toBe(0);
  });
});

describe('notices while the site is closed', () => {
  beforeEach(() => {
    localStorage.clear();
    pushed.length = 0;
  });
  afterEach(() => localStorage.clear());

  test('if they are off, their code is not fetched', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    expect([page.fetched, pushed]).toEqual([['client'], []]);
  });

  test('if they are on, they begin with the client, and a click opens the chat', async () => {
    localStorage.setItem('kith.push', '{}');
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    expect(pushed).toEqual(['begin']);
    clicked('@ana');
    clicked('#8000000000000001');
    await settle();
    expect(page.app.calls).toEqual(['open ana', 'room 8000000000000001']);
  });

  test('after a sign-out they end, on this page and on the next one', async () => {
    localStorage.setItem('kith.push', '{}');
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    page.kith.setToken(null);
    await settle();
    expect(pushed).toEqual(['begin', 'leave']);
    pushed.length = 0;
    await open({ tokenUrl: '/tok' }, 401).idle();
    expect(pushed).toContain('leave');
  });

  test('they also end after a sign-out from another device', async () => {
    localStorage.setItem('kith.push', '{}');
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    page.client.become({ state: 'stopped', shared: false, code: 'signed_out' });
    await settle();
    expect(pushed).toEqual(['begin', 'leave']);
  });
});

describe('connecting', () => {
  test('a signed-in member, in idle time: the client alone is fetched', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    expect(page.fetched).toEqual([]);
    await page.idle();
    expect(page.fetched).toEqual(['client']);
    expect(page.client.calls).toEqual([`setToken ${TOKEN}`, 'connect']);
  });

  test('a page that asks for the client early does not keep the member from being connected', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.kith.client();
    expect(page.client.calls).toEqual([]);
    await page.idle();
    expect(page.client.calls).toEqual([`setToken ${TOKEN}`, 'connect']);
  });

  test('nobody signed in: nothing is fetched or connected until the widget is opened', async () => {
    const page = open({ tokenUrl: '/tok' }, 401);
    await page.idle();
    expect(page.fetched).toEqual([]);
    page.button().click();
    await settle();
    expect(page.fetched).toEqual(['client', 'app']);
    expect(page.client.calls).toEqual(['connect']);
  });

  test('a page without a token source connects nobody by itself', async () => {
    const page = open({});
    await page.idle();
    expect(page.fetched).toEqual([]);
  });

  test('a page that names its member leaves the token to the leading tab', async () => {
    const page = open({ tokenUrl: '/tok', user: 'ana' }, 200);
    await page.idle();
    expect(fetch).not.toHaveBeenCalled();
    expect(page.client.calls).toEqual(['connect']);
    expect(page.client.options).toMatchObject({ site: 'garden', user: 'ana' });
  });

  test('if the endpoint is down, the client asks again', async () => {
    const page = open({ tokenUrl: '/tok' }, 500);
    await page.idle();
    expect(page.client.calls).toEqual(['connect']);
  });

  test('setToken signs in, again with a new one, and null signs out', async () => {
    const page = open({});
    page.kith.setToken(TOKEN);
    await settle();
    page.kith.setToken('x.y.z');
    page.kith.setToken(null);
    expect(page.client.calls).toEqual([
      `setToken ${TOKEN}`,
      'connect',
      'setToken x.y.z',
      'connect',
      'forget',
    ]);
  });

  test('a guest who has written before, in idle time; a signed-in member comes first', async () => {
    const token = (exp: number) => `h.${btoa(JSON.stringify({ sub: 'guest-1', exp }))}.s`;
    for (const none of [token(Date.now() / 1000 - 1), 'g', '']) {
      localStorage.setItem('kith:garden:guest', none);
      const nobody = open({});
      await nobody.idle();
      expect(nobody.fetched).toEqual([]);
    }
    localStorage.setItem('kith:garden:guest', token(Date.now() / 1000 + 60));
    const guest = open({});
    await guest.idle();
    expect(guest.fetched).toEqual(['client']);
    expect(guest.client.calls).toEqual(['connect']);
    const signedOut = open({ tokenUrl: '/tok' }, 401);
    await signedOut.idle();
    expect(signedOut.client.calls).toEqual(['connect']);
    const member = open({ tokenUrl: '/tok' }, 200);
    await member.idle();
    expect(member.client.calls).toEqual([`setToken ${TOKEN}`, 'connect']);
    localStorage.clear();
  });

  test('guestToken is the stored token of a guest, as long as it is valid', () => {
    const token = (exp: number) => `h.${btoa(JSON.stringify({ sub: 'guest-1', exp }))}.s`;
    expect(open({}).kith.guestToken()).toBe(undefined);
    const valid = token(Date.now() / 1000 + 60);
    for (const [kept, expected] of [
      [valid, valid],
      [token(Date.now() / 1000 - 1), undefined],
      ['g', undefined],
    ] as const) {
      localStorage.setItem('kith:garden:guest', kept);
      expect(open({}).kith.guestToken()).toBe(expected);
    }
    localStorage.clear();
  });

  test('a sign-out or a destroy before the client is loaded removes stored data', async () => {
    const kept = { 'kith:garden:guest': 'g', 'kith:garden:cache:ana': '1 {}', 'kith:garden:device': 'd' };
    const keep = () => {
      for (const [key, value] of Object.entries({ ...kept, other: 'of the page' }))
        localStorage.setItem(key, value);
    };
    keep();
    open({}).kith.setToken(null);
    expect(Object.keys(localStorage).sort()).toEqual(['kith:garden:device', 'other']);
    keep();
    open({}).kith.destroy();
    expect(Object.keys(localStorage).sort()).toEqual([
      'kith:garden:cache:ana',
      'kith:garden:device',
      'other',
    ]);
    localStorage.clear();
  });

  test('the inbox opens at once and shows no button', async () => {
    const page = open({ mode: 'inbox' });
    await settle();
    expect(page.button().hidden).toBe(true);
    expect(page.app.calls).toEqual(['show']);
  });
});

describe('the button', () => {
  test('has a name with its action and the unread number, and whether it is open', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    const button = page.button();
    expect(button.getAttribute('aria-label')).toBe('Open messenger');
    expect(button.getAttribute('aria-expanded')).toBe('false');
    await page.idle();
    page.client.happen('totals', { unread: 3, mentions: 0, conversations: 1, requests: 0, strangers: 0 });
    expect(button.getAttribute('aria-label')).toBe('Open messenger, 3 unread messages');
    page.client.happen('totals', { unread: 120, mentions: 0, conversations: 1, requests: 0, strangers: 0 });
    expect(button.textContent).toBe('99+');
    page.client.happen('totals', { unread: 3, mentions: 0, conversations: 1, requests: 0, strangers: 1 });
    expect(button.textContent, 'a request of a stranger is told of here, too').toBe('4');
    button.click();
    await settle();
    expect(button.getAttribute('aria-expanded')).toBe('true');
    button.click();
    await settle();
    expect(button.getAttribute('aria-expanded')).toBe('false');
    expect(page.app.calls).toEqual(['show', 'hide']);
  });

  test('fetches the app when the pointer comes, and mounts nothing yet', async () => {
    const page = open({});
    page.button().dispatchEvent(new Event('pointerenter'));
    await settle();
    expect(page.fetched).toEqual(['app']);
    expect(page.app.calls).toEqual([]);
  });

  test('turns grey when the connection stays lost, not for a short break', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    page.client.become({ state: 'waiting', shared: false });
    vi.advanceTimersByTime(7_000);
    page.client.become({ state: 'online', shared: false });
    vi.advanceTimersByTime(7_000);
    expect(page.button().dataset.state).toBe('ready');
    page.client.become({ state: 'waiting', shared: false });
    page.client.become({ state: 'connecting', shared: false });
    page.client.become({ state: 'waiting', shared: false });
    vi.advanceTimersByTime(8_000);
    expect(page.button().dataset.state).toBe('away');
    expect(page.button().getAttribute('aria-label')).toBe('Messenger: currently unavailable');
  });

  test('turns grey if the site is set up wrongly, and warns on the console', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    page.client.become({ state: 'stopped', code: 'bad_origin', shared: false });
    expect(page.button().dataset.state).toBe('away');
    expect(warn.mock.calls.join()).toContain('bad_origin');
  });

  test('turns grey when nothing can be fetched, and the next click retries', async () => {
    const page = open({});
    page.broken = true;
    page.button().click();
    await settle();
    expect(page.button().dataset.state).toBe('away');
    page.broken = false;
    page.button().click();
    await settle();
    expect(page.app.calls).toEqual(['show']);
    expect(page.button().dataset.state).not.toBe('away');
  });
});

describe('the page', () => {
  test('calls wait for the app and keep their order', async () => {
    const page = open({});
    page.kith.open('ben');
    page.kith.open();
    await settle();
    expect(page.app.calls).toEqual(['open ben', 'show']);
  });

  test('gets events until it unsubscribes; a listener that throws does not affect others', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    const heard: unknown[] = [];
    page.kith.on('unread', () => {
      throw new Error('of the page');
    });
    const listener = (detail: unknown) => heard.push(detail);
    page.kith.on('unread', listener);
    await page.idle();
    const totals = { unread: 1, mentions: 0, conversations: 1, requests: 0, strangers: 0 };
    page.client.happen('totals', totals);
    page.kith.off('unread', listener);
    page.client.happen('totals', totals);
    expect(heard).toEqual([totals]);
  });

  test('the tab that announces a message fetches the interface; if that fails, it announces nothing', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    await page.idle();
    const message = { from: 'ben', body: 'hello', time: 1 };
    const happened = (first: boolean) => ({ message, first }) as ClientEvents['message'];
    page.client.happen('message', happened(false));
    await settle();
    expect(page.fetched).toEqual(['client']);
    page.broken = true;
    page.client.happen('message', happened(true));
    await settle();
    expect(page.button().dataset.state).toBe('ready');
    page.broken = false;
    page.client.happen('message', happened(true));
    await settle();
    expect(page.app.calls).toEqual(['notify hello']);
    expect(page.button().getAttribute('aria-expanded')).toBe('false');
  });

  test('destroy releases everything, at any time', async () => {
    for (const moment of ['before', 'while fetching', 'after'] as const) {
      const page = open({ tokenUrl: '/tok' }, 200);
      if (moment !== 'before') page.kith.open();
      if (moment === 'after') await settle();
      page.kith.destroy();
      await page.idle();
      await settle();
      page.kith.open('ben');
      page.kith.setToken(TOKEN);
      page.kith.destroy();
      await settle();
      expect(document.querySelector('kith-widget')).toBeNull();
      expect(page.client.calls.includes('connect')).toBe(moment === 'after');
      if (moment !== 'before') expect(page.client.calls.at(-1)).toBe('destroy');
    }
  });
});

describe('mount', () => {
  const ONLINE: Status = { state: 'online', shared: false };
  const embedIn = (id: string) => {
    const element = document.createElement('div');
    element.id = id;
    document.body.append(element);
    return element;
  };
  /** A page whose tag has no widget, and an article with a room. */
  async function article(more: Partial<TagSettings> = {}) {
    const page = open({ tokenUrl: '/tok', mode: 'headless', ...more }, 200);
    const element = embedIn('article');
    const room = page.kith.mount({ element, room: '/article/7' });
    await page.idle();
    page.client.become(ONLINE);
    return { page, element, room };
  }

  test('a bubble and the room of an article share one client, and one of them announces messages', async () => {
    const { page, room } = await article();
    const bubble = page.kith.mount({ position: 'left' });
    await page.idle();
    expect([room.mounted, bubble.mounted]).toEqual([true, true]);
    expect(page.fetched.filter(one => one === 'client')).toEqual(['client']);
    expect(page.app.calls).toEqual(['room /article/7']);
    expect(document.querySelectorAll('kith-widget')).toHaveLength(2);
    expect(page.button().className).toBe('launcher left');
    page.client.happen('totals', { unread: 2, mentions: 0, conversations: 1, requests: 0, strangers: 0 });
    expect(page.button().getAttribute('aria-label')).toBe('Open messenger, 2 unread messages');
    const message = { from: 'ben', body: 'hello', time: 1 };
    page.client.happen('message', { message, first: true } as ClientEvents['message']);
    page.client.happen('call', { news: 'ring' } as ClientEvents['call']);
    await settle();
    expect(page.app.calls).toEqual(['room /article/7', 'notify hello', 'call ring']);
    expect(page.app.stages.map(stage => stage.settings.mode)).toEqual(['embed', 'bubble']);
  });

  test('an embedded chat with a person', async () => {
    const { page } = await article();
    page.kith.mount({ element: embedIn('contact'), person: 'ana' });
    await page.idle();
    expect(page.app.calls).toEqual(['room /article/7', 'open ana']);
  });

  test('the last one closes the connection, a moment later; the guest stays', async () => {
    const { page, room } = await article();
    const bubble = page.kith.mount({});
    room.unmount();
    vi.advanceTimersByTime(LINGER_MS);
    expect(page.client.calls).toEqual(['connect']);
    bubble.unmount();
    bubble.unmount();
    expect(page.client.calls).toEqual(['connect']);
    vi.advanceTimersByTime(LINGER_MS);
    expect(page.client.calls).toEqual(['connect', 'close']);
    expect([room.mounted, bubble.mounted]).toEqual([false, false]);
    expect(document.querySelector('kith-widget')).toBeNull();
  });

  test('a page that changes its view keeps the connection', async () => {
    const { page, room, element } = await article();
    for (let view = 0, now = room; view < 20; view++) {
      now.unmount();
      vi.advanceTimersByTime(LINGER_MS - 1);
      now = page.kith.mount({ element, room: `/article/${view}` });
      await page.idle();
    }
    expect(page.client.calls).toEqual(['connect']);
    expect(page.app.calls.slice(-2)).toEqual(['destroy', 'room /article/19']);
    expect(document.querySelectorAll('kith-widget')).toHaveLength(1);
  });

  test('after the connection was closed, the next widget opens a new one', async () => {
    const { page, room, element } = await article();
    page.client.happen('totals', { unread: 2, mentions: 0, conversations: 1, requests: 0, strangers: 0 });
    await settle();
    expect(badges.at(-1)).toBe(2);
    room.unmount();
    vi.advanceTimersByTime(LINGER_MS);
    await settle();
    expect(badges.at(-1)).toBe(0);
    page.client.become({ state: 'idle', shared: false });
    page.kith.mount({ element, room: 'r2' });
    await page.idle();
    expect(page.client.calls).toEqual(['connect', 'close', 'connect']);
    expect(page.fetched.filter(one => one === 'client')).toHaveLength(2);
  });

  test('unmounted while it is fetched, no widget appears and nothing is connected', async () => {
    const page = open({ tokenUrl: '/tok', mode: 'headless' }, 200);
    const soon = page.kith.mount({ element: embedIn('soon'), room: 'r1' });
    soon.unmount();
    await page.idle();
    expect(page.fetched).toEqual([]);
    const later = page.kith.mount({});
    later.open('ana');
    later.unmount();
    vi.advanceTimersByTime(LINGER_MS);
    await settle();
    expect([page.app.calls, page.client.calls]).toEqual([[], ['close']]);
    later.open('ben');
    await settle();
    expect(page.app.calls).toEqual([]);
    expect(console.error).not.toHaveBeenCalled();
  });

  test('wrong options are reported on the console, and the page goes on', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const { page, element } = await article();
    const bubble = page.kith.mount({});
    const wrong: [unknown, string][] = [
      [undefined, 'it takes an object of options'],
      ['#article', 'it takes an object of options'],
      [{ element: '#article', room: 'r1' }, 'element must be an HTML element of this page'],
      [
        { element: document.createElementNS('http://www.w3.org/2000/svg', 'g'), room: 'r1' },
        'element must be',
      ],
      [{ mode: 'embed', room: 'r1' }, 'element must be an HTML element of this page'],
      [{ element: embedIn('empty') }, 'mode embed needs a room or a person'],
      [{ element, mode: 'bubble' }, 'mode bubble takes no element'],
      [{ element, room: '/article/8' }, 'this element has a widget already'],
      [{ mode: 'inbox' }, 'the page has a widget outside of its elements already'],
      [{ site: 'elsewhere' }, 'this page is connected to the site garden, and cannot show elsewhere'],
    ];
    for (const [options, why] of wrong) {
      vi.mocked(console.error).mockClear();
      const none = page.kith.mount(options as Parameters<Kith['mount']>[0]);
      expect(vi.mocked(console.error).mock.calls.join()).toContain(`kith: mount(): ${why}`);
      expect(none.mounted).toBe(false);
      none.open('ana');
      none.openRoom('r1');
      none.close();
      none.on('unread', () => undefined)();
      none.off('unread', () => undefined);
      none.unmount();
      none.destroy();
    }
    expect(warn).not.toHaveBeenCalled();
    bubble.unmount();
    const careless = { room: 7, color: 'red', theme: 'neon', position: null, site: 'garden' };
    expect(page.kith.mount(careless as unknown as Parameters<Kith['mount']>[0]).mounted).toBe(true);
    expect(warn.mock.calls.flat()).toEqual([
      'kith: mount(): room must be a text',
      'kith: mount() has no option color',
      'kith: theme="neon" is not one of auto, light, dark',
    ]);
    expect(document.querySelectorAll('kith-widget')).toHaveLength(2);
  });

  test('each widget gets all events, and its own `open`, until it is unmounted', async () => {
    const { page, room } = await article();
    const bubble = page.kith.mount({});
    const heard: string[] = [];
    room.on('open', () => heard.push('room'));
    bubble.on('open', () => heard.push('bubble'));
    page.kith.on('open', () => heard.push('page'));
    for (const [name, one] of Object.entries({ room, bubble, page: page.kith }))
      one.on('unread', ({ unread }) => heard.push(`${name} ${unread}`));
    page.kith.open();
    await settle();
    const totals = { unread: 2, mentions: 0, conversations: 1, requests: 0, strangers: 0 };
    page.client.happen('totals', totals);
    bubble.unmount();
    page.client.happen('totals', totals);
    expect(heard).toEqual(['bubble', 'page', 'page 2', 'room 2', 'bubble 2', 'page 2', 'room 2']);
  });

  test('a call stays in the widget that it began in, until that one is unmounted', async () => {
    const { page, room } = await article();
    page.app.stages[0]?.call({ do: 'check' });
    page.kith.mount({});
    await settle();
    const ring = { news: 'ring' } as ClientEvents['call'];
    page.client.happen('call', ring);
    await settle();
    expect(page.app.stages.map(stage => stage.settings.mode)).toEqual(['embed']);
    room.unmount();
    page.client.happen('call', ring);
    await settle();
    expect(page.app.stages.map(stage => stage.settings.mode)).toEqual(['embed', 'bubble']);
  });

  test('beside the widget of the tag, which stays when the others are unmounted', async () => {
    const page = open({ tokenUrl: '/tok' }, 200);
    const room = page.kith.mount({ element: embedIn('beside'), room: 'r1' });
    await page.idle();
    room.destroy();
    vi.advanceTimersByTime(LINGER_MS);
    expect(page.client.calls).toEqual([`setToken ${TOKEN}`, 'connect']);
    page.kith.open('ben');
    await settle();
    expect(page.app.calls).toEqual(['room r1', 'destroy', 'open ben']);
  });

  test('destroy of the page removes all widgets; a widget that is mounted later starts anew', async () => {
    const { page, room, element } = await article();
    page.kith.mount({});
    page.kith.destroy();
    await settle();
    expect(document.querySelector('kith-widget')).toBeNull();
    expect([room.mounted, page.client.calls.at(-1)]).toEqual([false, 'destroy']);
    expect(await page.kith.client().catch(String)).toBe('Error: kith: it was destroyed');
    page.client.become({ state: 'idle', shared: false });
    const again = page.kith.mount({ element, room: 'r2' });
    await page.idle();
    expect([again.mounted, page.client.calls.at(-1), page.app.calls.at(-1)]).toEqual([
      true,
      'connect',
      'room r2',
    ]);
    again.destroy();
    expect(page.client.calls.at(-1)).toBe('destroy');
  });

  test('a token that comes before the first widget waits for it', async () => {
    const page = open({ mode: 'headless' });
    page.kith.setToken(TOKEN);
    await settle();
    expect(page.fetched).toEqual([]);
    page.kith.mount({});
    await page.idle();
    expect(page.client.calls).toEqual([`setToken ${TOKEN}`, 'connect']);
  });

  test('a page that has asked for the client keeps it without a widget', async () => {
    const { page, room } = await article();
    await page.kith.client();
    room.unmount();
    vi.advanceTimersByTime(LINGER_MS);
    expect(page.client.calls).toEqual(['connect']);
    page.kith.destroy();
    expect(page.client.calls).toEqual(['connect', 'destroy']);
  });
});

function open(more: Partial<TagSettings>, status = 200) {
  const answer = () =>
    Promise.resolve(new Response(status === 200 ? JSON.stringify({ token: TOKEN }) : '', { status }));
  vi.stubGlobal('fetch', vi.fn(answer));
  let root: ShadowRoot | undefined;
  vi.spyOn(HTMLElement.prototype, 'attachShadow').mockImplementation(function (this: HTMLElement, init) {
    root = attachShadow.call(this, init);
    return root;
  });
  const client = new FakeClient();
  const app = new FakeApp();
  const idle: (() => void)[] = [];
  const page = {
    client,
    app,
    broken: false,
    fetched: [] as string[],
    button: () => root?.querySelector('button') as HTMLButtonElement,
    idle: async () => {
      for (const call of idle.splice(0)) call();
      await settle();
    },
    kith: undefined as unknown as Kith,
  };
  const fetchPart = <T>(name: string, part: T): Promise<T> => {
    page.fetched.push(name);
    return page.broken ? Promise.reject(new Error('away')) : Promise.resolve(part);
  };
  const module = {
    browserEnvironment: () => undefined,
    createClient: (options: unknown) => {
      client.options = options;
      return client as unknown as Client;
    },
  };
  const parts: Parts = {
    client: () => fetchPart('client', module as unknown as Awaited<ReturnType<Parts['client']>>),
    app: () => fetchPart('app', { default: (stage: Stage) => app.mounted(stage) }),
    push: () => fetchPart('push', { Push: FakePush } as unknown as Awaited<ReturnType<Parts['push']>>),
    badge: () =>
      Promise.resolve({ createPageBadge: () => ({ set: (unread: number) => badges.push(unread) }) }),
    idle: call => idle.push(call),
  };
  const settings: TagSettings = {
    site: 'garden',
    server: 'https://im.example',
    mode: 'bubble',
    lang: 'en',
    theme: 'auto',
    position: 'right',
    iconDot: false,
    worker: '/kith-sw.js',
    ...more,
  };
  page.kith = createKith(settings, parts, document.body);
  opened.push(page.kith);
  return page;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** The unread numbers that the page has shown. */
const badges: number[] = [];

/** Calls of `Push`. */
const pushed: string[] = [];

class FakePush {
  constructor({ open }: { open(kith: string): void }) {
    clicked = open;
  }
  begin() {
    pushed.push('begin');
  }
  end() {
    pushed.push('end');
  }
  leave() {
    pushed.push('leave');
    return Promise.resolve();
  }
}
let clicked: (kith: string) => void = () => undefined;

class FakeClient {
  calls: string[] = [];
  options: unknown;
  #status: Status = { state: 'idle', shared: false };
  #told: (() => void)[] = [];
  #happenings = new Map<string, (detail: never) => void>();

  status = () => this.#status;
  user: string | undefined;
  me = () => this.user && { user: this.user };
  totals = (): Totals => ({ unread: 0, mentions: 0, conversations: 0, requests: 0, strangers: 0 });
  subscribe = (_: string, listener: () => void) => {
    this.#told.push(listener);
    return () => void this.#told.splice(this.#told.indexOf(listener), 1);
  };
  on = (name: string, listener: (detail: never) => void) => this.#happenings.set(name, listener);
  connect = () => {
    this.calls.push('connect');
    if (this.#status.state === 'idle') this.#status = { state: 'connecting', shared: false };
  };
  setToken = (token: string) => this.calls.push(`setToken ${token}`);
  forget = () => this.calls.push('forget');
  close = () => this.calls.push('close');
  destroy = () => this.calls.push('destroy');

  happen<K extends keyof ClientEvents>(name: K, detail: ClientEvents[K]): void {
    this.#happenings.get(name)?.(detail as never);
  }

  become(status: Status): void {
    this.#status = status;
    for (const listener of [...this.#told]) listener();
  }
}

class FakeApp {
  calls: string[] = [];

  stages: Stage[] = [];

  async mounted(stage: Stage): Promise<App> {
    this.stages.push(stage);
    return {
      show: () => {
        this.calls.push('show');
        stage.setOpen(true);
        stage.remember({ tab: 'chats', chat: '@ben' as ConversationKey, expanded: false });
        stage.emit('open', undefined);
      },
      hide: () => {
        this.calls.push('hide');
        stage.setOpen(false);
        stage.remember(undefined);
      },
      reopen: panel => {
        this.calls.push(`reopen ${JSON.stringify(panel)}`);
        stage.setOpen(true);
        stage.remember(panel);
      },
      open: user => this.calls.push(`open ${user}`),
      openRoom: room => this.calls.push(`room ${room}`),
      follow: link => this.calls.push(`link ${link}`),
      notify: ({ message }) => this.calls.push(`notify ${message.body}`),
      shows: () => false,
      call: request => this.calls.push(`call ${request.do === 'hear' ? request.event.news : request.do}`),
      destroy: () => this.calls.push('destroy'),
    };
  }
}
