// A call in a room, in real browsers with fake cameras and microphones. All participants see and hear each other,
// rejoin after a reload, and are told when the call is full.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, PHONE, shot, until } from './browser.mjs';
import { browserOf, button, bye, launchForCalls, online } from './calling.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launchForCalls(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

async function member(name, options) {
  const context = await browserOf(browser, options);
  // The demo's pages declare English as their language.
  if (options?.locale === 'ar')
    await context.addInitScript(() => {
      new MutationObserver(() => {
        document.documentElement.lang = 'ar';
        document.documentElement.dir = 'rtl';
      }).observe(document, { childList: true });
    });
  const widget = await Widget.of(context, kith, name);
  await until(() => online(widget), `${name} is online`);
  return widget;
}

/** Creates a room of `owner`, which the others join. All have it open. */
async function roomOf(name, owner, ...others) {
  const key = await owner.page.evaluate(async name => {
    const client = await globalThis.Kith.client();
    return client.createRoom({ name, kind: 'public' });
  }, name);
  assert.match(String(key), /^#/);
  for (const other of others)
    await other.page.evaluate(async key => (await globalThis.Kith.client()).join(key), key);
  for (const one of [owner, ...others]) {
    await one.page.evaluate(key => globalThis.Kith.openRoom(key.slice(1)), key);
    await one.field.waitFor();
  }
  return key;
}

async function begin(widget, kind = 'Video call') {
  await button(widget, 'Start a call').click();
  await widget.page.getByRole('menuitem', { name: kind }).click();
}

const tile = ({ page }, user) => page.locator(`kith-widget .call-tile[data-user="${user}"]`);
const groupWindow = ({ page }) => page.locator('kith-widget .call-group');
const callLine = ({ page }) => page.locator('kith-widget .room-call');
const join = widget => callLine(widget).getByRole('button', { name: 'Join', exact: true }).click();

/** The number of other participants whose video and audio arrive over a live connection. */
const received = ({ page }) =>
  page.evaluate(async () => {
    let seen = 0;
    let heard = 0;
    for (const one of globalThis.connections) {
      if (one.connectionState !== 'connected') continue;
      for (const stat of (await one.getStats()).values()) {
        if (stat.type !== 'inbound-rtp') continue;
        if (stat.kind === 'video' && (stat.framesDecoded ?? 0) > 5) seen += 1;
        if (stat.kind === 'audio' && (stat.totalAudioEnergy ?? 0) > 0) heard += 1;
      }
    }
    return { seen, heard };
  });

const meets = (widget, others) =>
  until(async () => {
    const { seen, heard } = await received(widget);
    return seen === others && heard === others;
  }, `pictures and voices of ${others} come in`);

test('three see and hear each other, one reloads and comes back, one leaves, and the room tells how long it was', async () => {
  const [anna, raj, mei] = await Promise.all(['anna', 'raj', 'mei'].map(name => member(name)));
  await roomOf('Bike repairs', anna, raj, mei);
  await begin(anna);
  await groupWindow(anna).getByText('Nobody else has joined yet').waitFor();
  await callLine(raj).getByText('Call · 1 in the call').waitFor();
  await assertAccessible(raj.page, 'a room in which a call stands');
  await shot(raj.page, 'group-line');
  await join(raj);
  await join(mei);
  for (const widget of [anna, raj, mei]) await meets(widget, 2);
  await tile(anna, 'mei').locator('.call-tile-picture').waitFor();
  await assertAccessible(anna.page, 'a call of three');
  await shot(anna.page, 'group-three');
  await button(anna, 'Enlarge call window').click();
  await assertAccessible(anna.page, 'a call of three, large');
  await shot(anna.page, 'group-three-large');
  await anna.page.keyboard.press('Escape');

  // One participant mutes the microphone, and the others see it.
  await button(raj, 'Mute microphone').click();
  await tile(anna, 'raj').getByText('is muted').waitFor({ state: 'attached' });

  await mei.page.reload();
  await groupWindow(mei).waitFor();
  for (const widget of [anna, raj, mei]) await meets(widget, 2);
  assert.equal(await tile(anna, 'mei').count(), 1);

  await button(raj, 'Leave call').click();
  await until(async () => (await tile(anna, 'raj').count()) === 0, 'his picture goes');
  await meets(anna, 1);
  await callLine(raj).getByText('Call · 2 in the call').waitFor();
  await button(anna, 'Leave call').click();
  await button(mei, 'Leave call').click();
  for (const widget of [anna, raj]) {
    await widget.page
      .locator('kith-widget .call-entry-text', { hasText: /^Video call, \d+:\d\d$/ })
      .waitFor();
    assert.equal(await callLine(widget).count(), 0);
  }
  await bye(anna, raj, mei);
});

test('six hear each other, and the seventh is told how many fit', async () => {
  const names = ['anna', 'raj', 'mei', 'tom', 'hamish', 'amara', 'ingrid'];
  const all = await Promise.all(names.map(name => member(name)));
  await roomOf('Six at a table', ...all);
  const [first, ...others] = all;
  const seventh = others.pop();
  await begin(first, 'Audio call');
  for (const one of others) await join(one);
  for (const one of [first, ...others])
    await until(async () => (await received(one)).heard === 5, 'five voices come in');
  await callLine(seventh).getByText('The call is full (maximum 6)').waitFor();
  await assertAccessible(first.page, 'a call of six');
  await shot(first.page, 'group-six');
  await button(first, 'Enlarge call window').click();
  await shot(first.page, 'group-six-large');
  // A member who only closes the page counts as away for 20 s.
  for (const one of [first, ...others]) await button(one, 'Leave call').click();
  await bye(...all);
});

test('the next one is told that it is full, and how many fit', async () => {
  await kith.setSite('demo', 'calls.group=2');
  const [tom, hamish, amara] = await Promise.all(['tom', 'hamish', 'amara'].map(name => member(name)));
  await roomOf('Two at a table', tom, hamish, amara);
  await begin(tom, 'Audio call');
  await join(hamish);
  await callLine(amara).getByText('The call is full (maximum 2)').waitFor();
  assert.equal(await callLine(amara).getByRole('button').count(), 0);
  await assertAccessible(amara.page, 'a call that is full');
  await shot(amara.page, 'group-full');
  await button(hamish, 'Leave call').click();
  await join(amara);
  await groupWindow(amara).getByText('2 in the call').first().waitFor();
  await bye(tom, hamish, amara);
  await kith.setSite('demo', 'calls.group=6');
});

test('on a phone, dark and in Arabic', async () => {
  const anna = await member('anna');
  const mei = await member('mei', { ...PHONE, colorScheme: 'dark', locale: 'ar' });
  const key = await anna.page.evaluate(async () => {
    const client = await globalThis.Kith.client();
    return client.createRoom({ name: 'Night riders', kind: 'public' });
  });
  await mei.page.evaluate(async key => (await globalThis.Kith.client()).join(key), key);
  for (const one of [anna, mei]) {
    await one.page.evaluate(key => globalThis.Kith.openRoom(key.slice(1)), key);
    await one.field.waitFor();
  }
  await begin(anna);
  await callLine(mei).getByRole('button').click();
  await meets(mei, 1);
  await assertAccessible(mei.page, 'a call in a room on a phone');
  await shot(mei.page, 'group-phone');
  await bye(anna, mei);
});
