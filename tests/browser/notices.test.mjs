// Notices of messages in chats that are not visible: the icon of the page, a sound, a toast. Each in one tab only.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertNoTrouble,
  DESKTOP,
  launch,
  PHONE,
  person,
  settled,
  until,
} from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
let host;
let strict;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  const page = { head: '<link rel="icon" href="/icon.svg">', tag: 'data-icon="dot"' };
  host = await hostPage(kith, 'notices', { ...page, images: "'self' data:" });
  strict = await hostPage(kith, 'notices', page);
  await kith.addSite('notices', '--origin', host.origin, '--origin', strict.origin);
  // Strangers may write at once here. Other tests cover message requests.
  await kith.setSite('notices', 'requests.on=false');
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
  await strict.close();
});

/** A member on a page with a closed widget, after a click on the page. `sounds` counts notes. */
async function visit(user, { at = host, options = DESKTOP, context } = {}) {
  const own = context ?? (await person(browser, { ...options, reducedMotion: 'reduce' }));
  if (!context) {
    await own.addInitScript(() => {
      globalThis.sounds = 0;
      const start = OscillatorNode.prototype.start;
      OscillatorNode.prototype.start = function (...args) {
        globalThis.sounds += 1;
        return start.apply(this, args);
      };
    });
  }
  const page = await own.newPage();
  await page.goto(`${at.origin}/?as=${user}`);
  await page.mouse.click(300, 300);
  await until(
    () => page.evaluate(async () => (await globalThis.Kith.client()).status().state === 'online'),
    `${user} is online`,
  );
  return { context: own, page, widget: new Widget(page), toast: page.locator('kith-widget .toast') };
}

const write = ({ page }, to, text) =>
  page.evaluate(async ([to, text]) => void (await globalThis.Kith.client()).send(`@${to}`, text), [to, text]);
const icon = ({ page }) => page.evaluate(() => document.querySelector('link[rel~=icon]')?.href);
const sounds = ({ page }) => page.evaluate(() => globalThis.sounds);

async function leave(...visits) {
  for (const { context } of visits) {
    assertNoTrouble(context);
    await context.close();
  }
}

test('a closed widget: dot, number, sound, and a toast that opens the chat', async () => {
  const [amy, bob] = [await visit('amy'), await visit('bob')];
  await write(bob, 'amy', 'Are you there?');
  await amy.toast.waitFor();
  assert.equal(await amy.toast.getAttribute('aria-label'), 'New message from bob of the host');
  assert.match(await amy.page.title(), /^\(1\) /);
  await until(async () => (await icon(amy))?.startsWith('data:image/png'), 'the dot on the icon');
  await until(async () => (await sounds(amy)) === 2, 'two notes');
  await assertAccessible(amy.page, 'a toast');
  await amy.toast.getByRole('button', { name: /Are you there/ }).click();
  await amy.widget.sees('Are you there?');
  assert.equal(await amy.toast.count(), 0);
  await until(async () => (await icon(amy)) === `${host.origin}/icon.svg`, 'the page has its icon back');

  await write(bob, 'amy', 'I can see that you are');
  await amy.widget.sees('I can see that you are');
  await amy.page.waitForTimeout(1_000);
  assert.equal(await sounds(amy), 2, 'what is read at once makes no noise');
  await leave(amy, bob);
});

test('of two tabs the one where the member is says it; read in one, it goes in the other', async () => {
  const [one, ben] = [await visit('cleo'), await visit('ben')];
  const two = await visit('cleo', { context: one.context });
  await two.page.evaluate(() => dispatchEvent(new Event('focus')));
  await two.page.waitForTimeout(200);
  await write(ben, 'cleo', 'Hello twice?');
  await two.toast.waitFor();
  assert.equal(await one.toast.count(), 0);
  await until(async () => (await sounds(two)) === 2, 'two notes');
  assert.equal(await sounds(one), 0);
  await one.widget.show();
  await one.page.locator('kith-widget .chat-row').locator('.row-main').click();
  await one.widget.sees('Hello twice?');
  await two.toast.waitFor({ state: 'detached' });
  await leave(one, ben);
});

test('an open panel shows the toast of another chat, never of its own or of its list', async () => {
  const [dora, eva, finn] = [
    await visit('dora', { options: PHONE }),
    await visit('eva'),
    await visit('finn'),
  ];
  await dora.widget.show();
  await write(eva, 'dora', 'first');
  const row = dora.page.locator('kith-widget .chat-row', { hasText: 'first' });
  await row.waitFor();
  await dora.page.waitForTimeout(1_000);
  assert.equal(await dora.toast.count(), 0);
  await row.locator('.row-main').click();
  await write(finn, 'dora', 'second');
  await dora.toast.waitFor();
  await dora.page.evaluate(settled);
  await assertAccessible(dora.page, 'a toast over a chat');
  await dora.toast.getByRole('button', { name: 'Dismiss' }).click();
  assert.equal(await dora.toast.count(), 0);
  await leave(dora, eva, finn);
});

test('sound is turned off under Me; do not disturb has neither sound nor toast', async () => {
  const [gil, hana] = [await visit('gil'), await visit('hana')];
  await gil.widget.show();
  await gil.widget.tab('Me').click();
  const sound = gil.page.getByRole('switch', { name: 'Sound' });
  assert.equal(await sound.getAttribute('aria-checked'), 'true');
  await sound.click();
  await gil.page.getByRole('button', { name: 'Close' }).click();
  await write(hana, 'gil', 'quietly');
  await gil.toast.waitFor();
  assert.equal(await sounds(gil), 0);
  await gil.toast.getByRole('button', { name: 'Dismiss' }).click();

  await gil.page.evaluate(async () => (await globalThis.Kith.client()).setPresence('busy'));
  await write(hana, 'gil', 'later');
  await until(async () => /^\(2\) /.test(await gil.page.title()), 'it is counted');
  await gil.page.waitForTimeout(1_000);
  assert.equal(await gil.toast.count(), 0);
  await leave(gil, hana);
});

test('where the policy of the page forbids it, the page keeps its icon', async () => {
  const [ida, jon] = [await visit('ida', { at: strict }), await visit('jon')];
  await write(jon, 'ida', 'hello');
  await ida.toast.waitFor();
  await until(
    () => ida.page.evaluate(() => globalThis.violations.some(one => one.startsWith('img-src data'))),
    'the browser refuses',
  );
  assert.equal(await icon(ida), `${strict.origin}/icon.svg`);
  assertNoTrouble(ida.context, /img-src|Content Security Policy/);
  await ida.context.close();
  await leave(jon);
});
