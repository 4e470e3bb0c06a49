// A hostile page on another origin: the widget works and looks as on other pages, and does not harm the page.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, DESKTOP, launch, person, until } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
let host;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  host = await hostPage(kith, 'hostile', { head: HEAD, body: BODY, style: STYLE, script: SCRIPT });
  await kith.addSite('hostile', '--origin', host.origin);
  // Strangers may write at once here. Other tests cover message requests.
  await kith.setSite('hostile', 'requests.on=false');
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
  kith-widget { --kith-accent: rgb(122, 31, 162); --kith-accent-hover: rgb(122, 31, 162); }
  .panel, .row, .bubble, .message, .launcher { background: lime !important; inline-size: 9px !important; }
`;
const SCRIPT = `
  Array.prototype.oops = function () {};
  Object.prototype.surprise = 'enumerable';
  String.prototype.trim2 = () => '';
  Object.defineProperty(Array.prototype, 'toJSON', { value: undefined, configurable: true });
  window.name = 'kith'; window.h = window.React = window.preact = 'not yours'; window.define = function () {}; define.amd = true;
  window.requestIdleCallback = undefined;
  const isTyping = target => ['INPUT', 'TEXTAREA'].includes(target.tagName);
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || isTyping(event.target)) return;
    event.preventDefault();
    document.getElementById('search').focus();
  });
  window.pasted = 0;
  document.addEventListener('paste', () => { window.pasted += 1; });
`;

const HEAD = '<base href="http://base.invalid/elsewhere/" target="_top">';
const BODY = `<form name="kith"><input name="body"><input name="children"></form>
  <input id="search"><p id="ours">The page's own text</p><button id="corner">Buy now</button>`;

async function visit(user) {
  const context = await person(browser, { ...DESKTOP, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=${user}`);
  const widget = new Widget(page);
  await widget.show();
  return { context, widget };
}

test('two members talk on it', async () => {
  const one = await visit('one');
  const two = await visit('two');
  // Nobody finds a user who has not signed in yet.
  await two.widget.page.getByText('No chats yet').waitFor();
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

test('its shortcuts take nothing of what is typed in the widget, and the keys of both work', async () => {
  const { context, widget } = await visit('typist');
  const { page } = widget;
  await page.evaluate(() => window.Kith.openRoom('/shortcuts'));
  await widget.field.focus();
  await page.keyboard.type('either/or');
  assert.equal(await widget.field.inputValue(), 'either/or');
  await page.evaluate(() => {
    const root = document.querySelector('kith-widget').shadowRoot;
    const paste = new ClipboardEvent('paste', {
      bubbles: true,
      composed: true,
      clipboardData: new DataTransfer(),
    });
    root.querySelector('.composer-field').dispatchEvent(paste);
  });
  assert.equal(await page.evaluate(() => window.pasted), 0, 'what is pasted here is not told to the page');
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.localName);
  await page.keyboard.press('F6');
  assert.notEqual(await focused(), 'kith-widget');
  await page.keyboard.press('/');
  assert.equal(await focused(), 'search', 'outside, a shortcut is for the page');
  await page.keyboard.press('Alt+c');
  assert.equal(await focused(), 'kith-widget');
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Chats' }).waitFor();
  await page.keyboard.press('Escape');
  await widget.panel.waitFor({ state: 'detached' });
  assertNoTrouble(context);
  await context.close();
});

test('its styles do not come in except for what it may set, ours do not get out', async () => {
  const { context, widget } = await visit('three');
  const { page } = widget;
  const inside = await page.evaluate(() => {
    const panel = document.querySelector('kith-widget').shadowRoot.querySelector('.panel');
    const { fontSize, letterSpacing, textTransform, direction, display, opacity, visibility, filter } =
      getComputedStyle(panel);
    const box = panel.getBoundingClientRect();
    return {
      fontSize,
      letterSpacing,
      textTransform,
      direction,
      display,
      opacity,
      visibility,
      filter,
      width: box.width,
      right: innerWidth - box.right,
    };
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
  const launcher = await widget.launcher.evaluate(button => getComputedStyle(button).backgroundColor);
  assert.equal(launcher, 'rgb(122, 31, 162)');
  const outside = await page.evaluate(() => {
    const host = document.querySelector('kith-widget').getBoundingClientRect();
    const { color, fontSize } = getComputedStyle(document.querySelector('#ours'));
    return { color, fontSize, width: host.width, height: host.height };
  });
  assert.deepEqual(outside, { color: 'rgb(255, 0, 255)', fontSize: '40px', width: 0, height: 0 });
  // axe does not work on such pages, but the widget does.
  await page.evaluate(() => delete Object.prototype.surprise);
  await assertAccessible(page, 'on a hostile page');
  assertNoTrouble(context);
  await context.close();
});

test('the page can take the widget off again, and nothing of it stays', async () => {
  const { context, widget } = await visit('four');
  await widget.page.evaluate(() => globalThis.Kith.destroy());
  await until(
    () => widget.page.evaluate(() => document.querySelector('kith-widget') === null),
    'the host element goes',
  );
  assertNoTrouble(context);
  await context.close();
});

test('a site whose list does not have the origin is told so, and the page goes on', async () => {
  await kith.addSite('elsewhere', '--origin', 'https://elsewhere.example');
  const context = await person(browser, DESKTOP);
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=five&site=elsewhere`);
  const widget = new Widget(page);
  await widget.show();
  await page.getByText(/not available here|signed out/).waitFor();
  assert.equal(await page.locator('#ours').textContent(), "The page's own text");
  await context.close();
});
