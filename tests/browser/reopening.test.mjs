// The next page opens the parts that were open on the previous one, in the same tab and for the same member.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoTrouble, DESKTOP, launch, PHONE, person, untilIn } from './browser.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

test('the next page has the chat open, and the focus stays on the page', async () => {
  const context = await person(browser, { ...DESKTOP, reopens: true });
  const anna = await Widget.of(context, kith, 'anna');
  await anna.chatWith('Mei');
  await anna.page.goto(`${kith.url}/as/anna/thread/slugs`);
  await anna.page.locator('kith-widget .chat-name', { hasText: 'Mei Tanaka' }).waitFor();
  assert.equal(await anna.page.evaluate(() => document.activeElement.localName), 'body');
  assert.equal(await anna.launcher.getAttribute('aria-expanded'), 'true');
  await anna.page.goto(`${kith.url}/as/tom/`);
  const other = new Widget(anna.page);
  await untilIn(
    other.page,
    async () => (await globalThis.Kith?.client())?.me()?.user === 'tom',
    'tom is here',
  );
  assert.equal(await other.launcher.getAttribute('aria-expanded'), 'false');
  assertNoTrouble(context);
  await context.close();
});

test('a phone has the sheet open after a reload, and not where a link has led to', async () => {
  const context = await person(browser, { ...PHONE, reopens: true });
  const anna = await Widget.of(context, kith, 'anna');
  await anna.chatWith('Mei');
  await anna.page.reload();
  await anna.field.waitFor();
  const length = await anna.page.evaluate(() => history.length);
  await anna.page.goBack();
  await anna.tab('Contacts').waitFor();
  assert.equal(await anna.page.evaluate(() => history.length), length);
  await anna.page.goto(`${kith.url}/as/anna/thread/slugs`);
  const online = async () => (await globalThis.Kith?.client())?.status().state === 'online';
  await untilIn(anna.page, online, 'anna is online');
  assert.equal(await anna.panel.count(), 0);
  assertNoTrouble(context);
  await context.close();
});
