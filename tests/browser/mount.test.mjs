// Several widgets on one page by `Kith.mount`, under a strict policy. They share one connection, and release
// everything.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertNoTrouble,
  DESKTOP,
  launch,
  PHONE,
  person,
  shot,
  until,
  untilIn,
} from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';

let browser;
let kith;
let host;
before(async () => {
  [browser, kith] = await Promise.all([launch('--js-flags=--expose-gc'), Kith.start()]);
  host = await hostPage(kith, 'magazine', {
    head: '<meta name="viewport" content="width=device-width">',
    tag: 'data-mode="headless"',
    style: `body { font-family: sans-serif; max-width: 860px; margin: 24px auto; padding: 0 16px; }
      #chat { max-width: 560px; margin: 16px 0; }`,
    body: '<h1>How to keep bees</h1><p>It begins with a box.</p><div id="chat"></div><p id="comments">Footer</p>',
  });
  await kith.addSite('magazine', '--origin', host.origin);
  await kith.setSite('magazine', 'requests.on=false');
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
});

/** A page that counts open sockets, channels and observers, and listeners on targets that outlive an element. */
async function visit(user, options = DESKTOP) {
  const context = await person(browser, { ...options, reducedMotion: 'reduce' });
  await context.addInitScript(counts);
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=${user}`);
  await untilIn(page, () => 'Kith' in globalThis, 'the script has run');
  return { context, page };
}

function counts() {
  const open = { sockets: 0, channels: 0, intervals: new Set() };
  const listeners = new Map();
  const entries = target => {
    if (!listeners.has(target)) listeners.set(target, new Set());
    return listeners.get(target);
  };
  for (const target of [window, document]) {
    const { addEventListener, removeEventListener } = target;
    const keys = new WeakMap();
    let next = 0;
    const key = (type, listener, options) => {
      if (!keys.has(listener)) keys.set(listener, ++next);
      const capture = typeof options === 'object' ? options?.capture === true : options === true;
      return `${type} ${keys.get(listener)} ${capture}`;
    };
    target.addEventListener = function (type, listener, options) {
      if (listener) {
        entries(target).add(key(type, listener, options));
        options?.signal?.addEventListener('abort', () =>
          entries(target).delete(key(type, listener, options)),
        );
      }
      return addEventListener.call(this, type, listener, options);
    };
    target.removeEventListener = function (type, listener, options) {
      if (listener) entries(target).delete(key(type, listener, options));
      return removeEventListener.call(this, type, listener, options);
    };
  }
  globalThis.WebSocket = class extends WebSocket {
    constructor(...all) {
      super(...all);
      open.sockets += 1;
      globalThis.socketsEver = (globalThis.socketsEver ?? 0) + 1;
      super.addEventListener('close', () => {
        open.sockets -= 1;
      });
    }
  };
  globalThis.BroadcastChannel = class extends BroadcastChannel {
    constructor(name) {
      super(name);
      open.channels += 1;
    }
    close() {
      open.channels -= 1;
      super.close();
    }
  };
  const { setInterval, clearInterval } = globalThis;
  globalThis.setInterval = (...all) => {
    const id = setInterval(...all);
    open.intervals.add(id);
    return id;
  };
  globalThis.clearInterval = id => {
    open.intervals.delete(id);
    clearInterval(id);
  };
  globalThis.openNow = () => ({
    sockets: open.sockets,
    channels: open.channels,
    intervals: open.intervals.size,
    window: Array.from(entries(window))
      .map(one => one.split(' ')[0])
      .sort(),
    document: Array.from(entries(document))
      .map(one => one.split(' ')[0])
      .sort(),
  });
}

const openNow = page => page.evaluate(() => globalThis.openNow());
const tokensOf = page => {
  const asked = [];
  page.on('request', request => {
    if (new URL(request.url()).pathname === '/token') asked.push(request.url());
  });
  return asked;
};

/** Mounts the room of the article in `#chat`, and the bubble beside it. */
const mountBoth = page =>
  page.evaluate(() => {
    const { Kith } = globalThis;
    globalThis.room = Kith.mount({ element: document.querySelector('#chat'), room: '/article/7' });
    globalThis.bubble = Kith.mount({ mode: 'bubble' });
    return [globalThis.room.mounted, globalThis.bubble.mounted];
  });

const inRoom = page => page.locator('kith-widget[data-embedded]');
const inBubble = page => page.locator('kith-widget:not([data-embedded])');
const say = async (widget, text) => {
  const field = widget.locator('.composer-field');
  await field.fill(text);
  await field.press('Enter');
};
const sees = (widget, text) => widget.locator('.body-text', { hasText: text }).first().waitFor();

test('F6 goes round the page and all open widgets, in the order of the page', async () => {
  const { context, page } = await visit('fay');
  await mountBoth(page);
  await inRoom(page).locator('.composer-field').waitFor();
  await inBubble(page).locator('.launcher').click();
  await inBubble(page).locator('.search-open').waitFor();
  await page.evaluate(() => {
    const link = document.body.appendChild(document.createElement('a'));
    link.href = '#comments';
    link.textContent = 'Comments';
    link.focus();
  });
  const focused = () =>
    page.evaluate(() => {
      const { activeElement: one } = document;
      if (one?.localName !== 'kith-widget') return one?.textContent;
      return 'embedded' in one.dataset ? 'room' : 'bubble';
    });
  const round = async () => {
    const places = [];
    for (let i = 0; i < 6; i += 1) {
      await page.keyboard.press('F6');
      places.push(await focused());
    }
    return places;
  };
  // The handler of F6 is loaded a moment after the panel.
  await until(
    async () => (await round()).join() === 'room,bubble,Comments,room,bubble,Comments',
    'it goes round',
  );
  // F6 skips a closed panel.
  await inBubble(page).locator('.launcher').click();
  await page.locator('a').focus();
  assert.deepEqual(await round(), ['room', 'Comments', 'room', 'Comments', 'room', 'Comments']);
  await page.evaluate(() => globalThis.room.unmount());
  await page.locator('a').focus();
  assert.deepEqual(await round(), Array(6).fill('Comments'));
  assertNoTrouble(context);
  await context.close();
});

test('a bubble and the room of an article on one page share one connection', async () => {
  const { context, page } = await visit('ana');
  const asked = tokensOf(page);
  assert.deepEqual(await mountBoth(page), [true, true]);
  await inRoom(page).locator('.composer-field').waitFor();
  await say(inRoom(page), 'What kind of box?');
  await sees(inRoom(page), 'What kind of box?');
  await inBubble(page).locator('.launcher').click();
  await inBubble(page).locator('.chat-row').first().waitFor();
  assert.equal(await inBubble(page).locator('.chat-row').count(), 1);

  const other = await visit('ben');
  await mountBoth(other.page);
  await say(inRoom(other.page), 'A wooden one.');
  await sees(inRoom(page), 'A wooden one.');
  await other.page.evaluate(() => globalThis.bubble.open('ana'));
  await say(inBubble(other.page), 'Shall I bring you one?');
  await inBubble(page).locator('.chat-row', { hasText: 'Shall I bring you one?' }).click();
  await sees(inBubble(page), 'Shall I bring you one?');

  await shot(page, 'mount-desktop');
  assert.equal(await page.evaluate(() => globalThis.socketsEver), 1);
  assert.equal(asked.length, 1, 'one token for both');
  const { sockets, channels } = await openNow(page);
  assert.deepEqual([sockets, channels], [1, 1]);
  await assertAccessible(page, 'two widgets on a page');
  for (const one of [context, other.context]) {
    assertNoTrouble(one);
    await one.close();
  }
});

test('on a phone the sheet lies over the room, and Back closes the sheet alone', async () => {
  const { context, page } = await visit('cleo', PHONE);
  await mountBoth(page);
  await inRoom(page).locator('.composer-field').waitFor();
  await shot(page, 'mount-phone-room');
  await inBubble(page).locator('.launcher').tap();
  await inBubble(page).locator('.panel').waitFor();
  await page.evaluate(() => globalThis.bubble.open('ana'));
  await inBubble(page).locator('.composer-field').waitFor();
  await shot(page, 'mount-phone-sheet');
  await page.goBack();
  await inBubble(page).locator('.composer-field').waitFor({ state: 'detached' });
  await page.goBack();
  await inBubble(page).locator('.panel').waitFor({ state: 'detached' });
  assert.ok(await inRoom(page).locator('.composer-field').isVisible(), 'the room is not in the history');
  assertNoTrouble(context);
  await context.close();
});

test('a link inside of the page does not close an embedded room', async () => {
  const { context, page } = await visit('dora');
  await mountBoth(page);
  await inRoom(page).locator('.composer-field').waitFor();
  await page.evaluate(() => {
    location.hash = '#comments';
  });
  await untilIn(page, () => location.hash === '#comments', 'the link is followed');
  await page.goBack();
  await untilIn(page, () => location.hash === '', 'the page is back');
  assert.ok(await inRoom(page).locator('.composer-field').isVisible());
  assertNoTrouble(context);
  await context.close();
});

test('mounted and unmounted twenty times, the page has no more of anything than after the first time', async () => {
  const { context, page } = await visit('emil');
  const before = await openNow(page);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable');
  const heap = async () => {
    for (let turn = 0; turn < 3; turn++) await devtools.send('HeapProfiler.collectGarbage');
    const { metrics } = await devtools.send('Performance.getMetrics');
    const of = name => metrics.find(one => one.name === name).value;
    return { nodes: of('Nodes'), listeners: of('JSEventListeners') };
  };
  const round = async () => {
    await mountBoth(page);
    await inRoom(page).locator('.composer-field').waitFor();
    await page.evaluate(() => globalThis.bubble.open());
    await inBubble(page).locator('.panel').waitFor();
    await page.evaluate(() => {
      globalThis.bubble.unmount();
      globalThis.room.unmount();
    });
    assert.equal(await page.locator('kith-widget').count(), 0);
  };
  /** Waits until all connections, observers and listeners since the page load are closed again. */
  const closed = async () => {
    const open = () => page.evaluate(() => JSON.stringify(globalThis.openNow()));
    await until(async () => (await open()) === JSON.stringify(before), 'everything is closed', 10_000).catch(
      async error => assert.deepEqual(await openNow(page), before, error.message),
    );
  };
  await round();
  await closed();
  // The second round: data that is fetched once and kept is loaded now.
  await round();
  await closed();
  const first = { heap: await heap(), history: await page.evaluate(() => history.length) };
  for (let turn = 0; turn < 18; turn++) await round();
  assert.ok(
    (await page.evaluate(() => globalThis.socketsEver)) <= 3,
    'a widget that is mounted at once takes the connection over',
  );
  await closed();
  const last = { heap: await heap(), history: await page.evaluate(() => history.length) };
  assert.equal(last.history, first.history);
  // The tolerance is for garbage that is not collected yet. A leak in 18 rounds would be some thousand nodes.
  assert.ok(last.heap.nodes < first.heap.nodes + 300, JSON.stringify({ first, last }));
  assert.ok(last.heap.listeners < first.heap.listeners + 30, JSON.stringify({ first, last }));
  assert.equal(
    await page.evaluate(() => document.adoptedStyleSheets.length + document.styleSheets.length),
    1,
  );
  assertNoTrouble(context);
  await context.close();
});

test('a single-page app goes from article to article, also by Back, and each has its room', async () => {
  const { context, page } = await visit('fay');
  await page.evaluate(() => {
    let now;
    const show = () => {
      now?.unmount();
      const element = document.createElement('div');
      // Mount before the element is in the page.
      now = globalThis.Kith.mount({
        element,
        room: location.pathname + location.search,
        roomName: 'An article',
      });
      document.querySelector('#chat').replaceChildren(element);
    };
    globalThis.goTo = address => {
      history.pushState(null, '', address);
      show();
    };
    addEventListener('popstate', show);
    show();
  });
  const field = inRoom(page).locator('.composer-field');
  for (const article of ['/?article=1', '/?article=2']) {
    await page.evaluate(to => globalThis.goTo(to), article);
    await field.waitFor();
    await say(inRoom(page), `First in ${article}`);
    await sees(inRoom(page), `First in ${article}`);
  }
  await page.goBack();
  await sees(inRoom(page), 'First in /?article=1');
  // A message is shown before the widget has a connection.
  await inRoom(page).locator('[data-message] .state[data-state=sent]').waitFor();
  assert.equal(await inRoom(page).count(), 1);
  assert.equal(await page.evaluate(() => globalThis.socketsEver), 1);
  assertNoTrouble(context);
  await context.close();
});

test('wrong options are said on the console; unmount while loading, and destroy, leave a page that can begin again', async () => {
  const { context, page } = await visit('gus');
  const said = [];
  page.on('console', message => said.push(message.text()));
  const nothing = await page.evaluate(() => {
    const { Kith } = globalThis;
    const tries = [
      undefined,
      '#chat',
      { element: '#chat', room: 'r' },
      { mode: 'embed' },
      { site: 'elsewhere' },
    ];
    return tries.map(options => {
      const none = Kith.mount(options);
      none.open('ana');
      none.unmount();
      return none.mounted;
    });
  });
  assert.deepEqual(nothing, [false, false, false, false, false]);
  assert.equal(said.filter(text => text.startsWith('kith: mount(): ')).length, 5, said.join('\n'));
  assert.equal(await page.locator('kith-widget').count(), 0);

  await mountBoth(page);
  await page.evaluate(() => {
    globalThis.bubble.open('ana');
    globalThis.bubble.unmount();
    globalThis.room.unmount();
  });
  await mountBoth(page);
  await inRoom(page).locator('.composer-field').waitFor();
  await page.evaluate(() => globalThis.Kith.destroy());
  await until(async () => (await openNow(page)).sockets === 0, 'destroy closes the connection');
  assert.equal(await page.locator('kith-widget').count(), 0);
  await mountBoth(page);
  await inRoom(page).locator('.composer-field').waitFor();
  await say(inRoom(page), 'Here again');
  await sees(inRoom(page), 'Here again');
  assertNoTrouble(context, /kith: mount\(\): /);
  await context.close();
});
