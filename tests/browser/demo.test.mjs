// The demo without `--strangers`: its pages are valid HTML, and it has content for every feature.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { assertNoTrouble, DESKTOP, launch, PHONE, person, until } from './browser.mjs';
import { browserOf, button, bye, call, card, launchForCalls, online } from './calling.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

const require = createRequire(new URL('../../widget/package.json', import.meta.url));
const { HtmlValidate } = require('html-validate');

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start({}, { strangers: false })]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

const PAGES = [
  '/',
  '/as/anna/',
  '/as/anna/thread/slugs',
  '/full/anna',
  '/visit/',
  '/visit/thread/compost',
  '/nothing-here',
];

for (const path of PAGES) {
  test(`${path} is valid HTML with one first heading and a description`, async () => {
    const html = await (await fetch(kith.url + path)).text();
    const validator = new HtmlValidate({
      extends: ['html-validate:recommended'],
      // These rules concern the layout of the source, which is a matter of taste.
      rules: { 'long-title': 'off', 'doctype-style': 'off', 'no-trailing-whitespace': 'off' },
    });
    const report = await validator.validateString(html, path);
    const found = report.results.flatMap(one =>
      one.messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
    );
    assert.deepEqual(found, []);
    assert.equal(html.match(/<h1[ >]/g)?.length, 1);
    assert.match(html, /<meta name="description" content="[^"]{40,}">/);
  });
}

test('a new visitor finds rooms, requests, a poll, a picture and a thread, and can call at the first click', async () => {
  const context = await person(browser, DESKTOP);
  const anna = await Widget.of(context, kith, 'anna');
  const row = name => anna.page.locator('kith-widget .chat-row .row-main', { hasText: name }).first();
  for (const name of ['Garden talk', 'Notices', 'Board', 'Tom Okafor']) await row(name).waitFor();
  await row('Garden talk').click();
  const inChat = selector => anna.page.locator(`kith-widget .pane-chat ${selector}`).first();
  await inChat('.poll').waitFor();
  await inChat('.files').waitFor();
  await anna.page.getByRole('button', { name: /2 replies/ }).waitFor();
  await anna.back();
  await row('Tom Okafor').click();
  await anna.page.getByRole('button', { name: 'Call', exact: true }).waitFor();
  assertNoTrouble(context);
  await context.close();
});

test('a picture stays in its bubble on the narrowest phones', async () => {
  for (const width of [320, 360]) {
    const context = await person(browser, { ...PHONE, viewport: { width, height: 640 } });
    const tom = await Widget.of(context, kith, 'tom');
    const row = tom.page.locator('kith-widget .chat-row .row-main', { hasText: 'Garden talk' });
    await tom.choose(row, tom.page.getByRole('log', { name: 'Messages with Garden talk' }));
    const shot = tom.page.locator('kith-widget .pane-chat .shot').first();
    await shot.waitFor();
    const [picture, bubble] = await shot.evaluate(one =>
      [one, one.closest('.bubble')].map(each => each.getBoundingClientRect().toJSON()),
    );
    assert.ok(
      picture.left >= bubble.left && picture.right <= bubble.right,
      `${width}: ${picture.right} in ${bubble.right}`,
    );
    assertNoTrouble(context);
    await context.close();
  }
});

test('a call rings in the other window at the first click', async () => {
  const withDevices = await launchForCalls();
  try {
    const [anna, tom] = await Promise.all(
      ['anna', 'tom'].map(async who => Widget.of(await browserOf(withDevices), kith, who)),
    );
    await Promise.all([anna, tom].map(one => until(() => online(one), 'they are online')));
    await call(anna, 'tom', 'Audio call');
    await card(tom).waitFor();
    await button(tom, 'Decline').click();
    await bye(anna, tom);
  } finally {
    await withDevices.close();
  }
});

test('a chat is opened at a date', async () => {
  const context = await person(browser, DESKTOP);
  const anna = await Widget.of(context, kith, 'anna');
  await anna.page.locator('kith-widget .chat-row .row-main', { hasText: 'Board' }).first().click();
  const messages = anna.page.locator('kith-widget .pane-chat [data-message]');
  await messages.first().waitFor();
  /** The day of a message in the browser's time zone, in the format of a date field. */
  const dayOf = at =>
    messages.nth(at).evaluate(one => {
      const time = new Date(one.querySelector('time').dateTime);
      return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
    });
  const days = [await dayOf(0), await dayOf(1)];
  const today = new Date().toISOString().slice(0, 10);
  for (const [day, expected] of [
    [days[0], 0],
    [days[1], days.indexOf(days[1])],
    // If no message was written today, the chat opens at the newest one.
    [today, today === days[1] ? days.indexOf(today) : 1],
  ]) {
    await anna.page
      .locator('kith-widget .chat-bar')
      .getByRole('button', { name: 'Actions for Board' })
      .click();
    await anna.page.getByRole('menuitem', { name: 'Go to date' }).click();
    await anna.page.locator('kith-widget .date-jump-day').fill(day);
    await anna.page.locator('kith-widget .date-jump').getByRole('button', { name: 'Show' }).click();
    await until(
      () => messages.nth(expected).evaluate(one => one.getRootNode().activeElement === one),
      `${day} is shown`,
    );
    assert.equal(await anna.page.locator('kith-widget .date-jump').count(), 0, 'the bar is closed');
  }
  assertNoTrouble(context);
  await context.close();
});
