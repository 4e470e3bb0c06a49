// The embedded room of a page. The first message creates it. It has no button and no list.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, DESKTOP, launch, PHONE, person, until } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
let host;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  host = await hostPage(kith, 'forum', {
    tag: 'data-mode="embed" data-room="/thread/42" data-into="#chat"',
    style: '#chat { max-width: 640px; margin: 24px auto; } body { font-family: sans-serif; }',
    body: '<h1>Thread 42</h1><p>What do you think of it?</p><input id="ours"><div id="chat"></div><p>Footer</p>',
  });
  await kith.addSite('forum', '--origin', host.origin);
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
});

async function reader(user, options = DESKTOP) {
  const context = await person(browser, { ...options, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=${user}`);
  const widget = new Widget(page);
  await widget.field.waitFor();
  return { context, widget };
}

test('two readers of a page talk in its room, and the page keeps its focus', async () => {
  const one = await reader('one');
  const { page } = one.widget;
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY');
  assert.ok(await one.widget.launcher.isHidden());
  assert.equal(await page.getByRole('tab').count(), 0);
  const box = await one.widget.panel.boundingBox();
  const place = await page.locator('#chat').boundingBox();
  assert.deepEqual([box.x, box.width], [place.x, place.width]);
  await assertAccessible(page, 'an embedded room that does not exist yet');
  await one.widget.say('First!');
  await one.widget.becomes('First!', 'sent');

  const two = await reader('two', PHONE);
  await two.widget.sees('First!');
  const join = two.widget.page.getByRole('button', { name: 'Join' });
  if (await join.isVisible()) await join.tap();
  await two.widget.say('Second.');
  await one.widget.sees('Second.');
  await until(async () => (await one.widget.texts()).length === 2, 'each once');
  await assertAccessible(two.widget.page, 'an embedded room on a phone');
  for (const { context } of [one, two]) {
    assertNoTrouble(context);
    await context.close();
  }
});
