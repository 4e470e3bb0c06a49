// A page of another origin that does its worst: the widget works and looks as everywhere, and the page is not harmed.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, DESKTOP, launch, person, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
let host;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  host = await serveHost();
  await kith.command('site', 'add', 'hostile', '--origin', host.origin);
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
});

const STYLE = `
  * { all: unset !important; font-family: fantasy !important; font-size: 40px !important; color: magenta !important;
      letter-spacing: 9px !important; text-transform: uppercase !important; direction: rtl !important; }
  div, section, button, kith-widget { display: none !important; position: static !important; opacity: 0 !important;
      visibility: hidden !important; transform: rotate(9deg) !important; z-index: -1 !important; filter: blur(9px) !important; }
  .panel, .row, .bubble, .message, .launcher { background: lime !important; inline-size: 9px !important; }
`;
const SCRIPT = `
  Array.prototype.oops = function () {};
  Object.prototype.surprise = 'enumerable';
  String.prototype.trim2 = () => '';
  Object.defineProperty(Array.prototype, 'toJSON', { value: undefined, configurable: true });
  window.name = 'kith'; window.h = window.React = window.preact = 'not yours'; window.define = function () {}; define.amd = true;
  window.requestIdleCallback = undefined;
  document.addEventListener('keydown', event => { if (event.key === '/') event.preventDefault(); });
`;

/** The site of the hostile page: its own CSP, and an address that signs tokens through `kith token`. */
async function serveHost() {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://host');
    const user = url.searchParams.get('as') ?? 'visitor';
    const site = url.searchParams.get('site') ?? 'hostile';
    if (url.pathname === '/token') {
      const token = await kith.command('token', '--site', site, '--user', user, '--name', `${user} of the host`);
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ token }));
    }
    const types = { '/style.css': ['text/css', STYLE], '/script.js': ['text/javascript', SCRIPT] };
    if (url.pathname in types) {
      const [type, body] = types[url.pathname];
      response.writeHead(200, { 'content-type': type });
      return response.end(body);
    }
    const nonce = 'bm9uY2Utb2YtdGhlLWhvc3Q';
    response.writeHead(url.pathname === '/' ? 200 : 204, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
        "style-src 'self'",
        `connect-src 'self' ${kith.url} ${kith.url.replace('http', 'ws')}`,
        "img-src 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ].join('; '),
    });
    response.end(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hostile</title>
      <base href="http://base.invalid/elsewhere/" target="_top">
      <link rel="stylesheet" href="${host.origin}/style.css">
      <script src="${host.origin}/script.js" nonce="${nonce}"></script>
      <script async src="${kith.url}/kith.js" data-site="${site}" data-token-url="${host.origin}/token?as=${user}&amp;site=${site}" nonce="${nonce}"></script>
      </head><body><form name="kith"><input name="body"><input name="children"></form>
      <p id="ours">The page's own text</p><button id="corner">Buy now</button></body></html>`);
  });
  await new Promise(resolve => server.listen(0, 'localhost', resolve));
  return {
    origin: `http://localhost:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function visit(user) {
  const context = await person(browser, DESKTOP);
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=${user}`);
  const widget = new Widget(page);
  await widget.show();
  return { context, widget };
}

test('two members talk on it', async () => {
  const one = await visit('one');
  const two = await visit('two');
  await one.widget.chatWith('two of the host');
  await one.widget.say('Can you hear me in here?');
  const row = two.widget.page.locator('kith-widget .chat-row', { hasText: 'one of the host' });
  await row.locator('.row-main').click();
  await two.widget.sees('Can you hear me in here?');
  await two.widget.say('Loud and clear, see https://kith.example/');
  await one.widget.sees('Loud and clear, see https://kith.example/');
  const link = one.widget.page.locator('kith-widget .body-text a');
  assert.deepEqual(
    [await link.getAttribute('href'), await link.getAttribute('target'), await link.getAttribute('rel')],
    ['https://kith.example/', '_blank', 'noopener noreferrer nofollow ugc'],
  );
  for (const { context } of [one, two]) {
    assertNoTrouble(context);
    await context.close();
  }
});

test('its styles do not come in, ours do not get out', async () => {
  const { context, widget } = await visit('three');
  const { page } = widget;
  const inside = await page.evaluate(() => {
    const panel = document.querySelector('kith-widget').shadowRoot.querySelector('.panel');
    const { fontSize, letterSpacing, textTransform, direction, display, opacity, visibility, filter } = getComputedStyle(panel);
    const box = panel.getBoundingClientRect();
    return { fontSize, letterSpacing, textTransform, direction, display, opacity, visibility, filter, width: box.width, right: innerWidth - box.right };
  });
  assert.deepEqual(inside, {
    fontSize: '14px',
    letterSpacing: 'normal',
    textTransform: 'none',
    direction: 'ltr',
    display: 'flex',
    opacity: '1',
    visibility: 'visible',
    filter: 'none',
    width: 360,
    right: 20,
  });
  const outside = await page.evaluate(() => {
    const host = document.querySelector('kith-widget').getBoundingClientRect();
    const { color, fontSize } = getComputedStyle(document.querySelector('#ours'));
    return { color, fontSize, width: host.width, height: host.height };
  });
  assert.deepEqual(outside, { color: 'rgb(255, 0, 255)', fontSize: '40px', width: 0, height: 0 });
  // axe is not built for such pages, the widget is.
  await page.evaluate(() => delete Object.prototype.surprise);
  await assertAccessible(page, 'on a hostile page');
  assertNoTrouble(context);
  await context.close();
});

test('the page can take the widget off again, and nothing of it stays', async () => {
  const { context, widget } = await visit('four');
  await widget.page.evaluate(() => globalThis.Kith.destroy());
  await until(() => widget.page.evaluate(() => document.querySelector('kith-widget') === null), 'the host element goes');
  assertNoTrouble(context);
  await context.close();
});

test('a site whose list does not have the origin is told so, and the page goes on', async () => {
  await kith.command('site', 'add', 'elsewhere', '--origin', 'https://elsewhere.example');
  const context = await person(browser, DESKTOP);
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=five&site=elsewhere`);
  const widget = new Widget(page);
  await widget.show();
  await page.getByText(/not available here|signed out/).waitFor();
  assert.equal(await page.locator('#ours').textContent(), "The page's own text");
  await context.close();
});
