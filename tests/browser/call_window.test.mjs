// Two members call each other through the widget, with the browser's own camera and microphone of tests: pictures and
// voices go both ways, a reload comes back, and whoever ends it ends it for both.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([
    launch(
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      // On a machine without a network there is loopback alone, and names of multicast DNS are nobody's.
      '--allow-loopback-in-peer-connection',
      '--disable-features=WebRtcHideLocalIpsWithMdns',
    ),
    Kith.start(),
  ]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** A member with the panel open; each connection that the page makes is kept to be looked at. */
async function member(name, options = {}) {
  const context = await person(browser, { ...DESKTOP, ...options });
  await context.addInitScript(() => {
    globalThis.connections = [];
    const Connection = globalThis.RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Connection {
      constructor(...given) {
        super(...given);
        globalThis.connections.push(this);
      }
    };
  });
  return Widget.of(context, kith, name);
}

async function pair(one, other, options) {
  const widgets = await Promise.all([member(one, options), member(other)]);
  const client = (widget, user) =>
    widget.page.evaluate(async user => (await globalThis.Kith.client()).changeContact('request', user), user);
  await until(() => online(widgets[0]), 'the first is online');
  await until(() => online(widgets[1]), 'the second is online');
  await client(widgets[0], other).catch(() => undefined);
  await client(widgets[1], one).catch(() => undefined);
  return widgets;
}

const online = ({ page }) =>
  page.evaluate(async () => (await globalThis.Kith.client()).status().state === 'online');
const openChat = ({ page }, user) => page.evaluate(user => globalThis.Kith.open(user), user);
const button = ({ page }, name) => page.locator('kith-widget').getByRole('button', { name, exact: true });
const card = ({ page }) => page.locator('kith-widget .call-card');
const frame = ({ page }) => page.locator('kith-widget .call-window');
const line = ({ page }) => page.locator('kith-widget .call-line').textContent();

async function call(widget, user, kind) {
  await openChat(widget, user);
  await button(widget, 'Call').click();
  await widget.page.getByRole('menuitem', { name: kind }).click();
}

/** What comes in on the newest connection: frames that were drawn, and how loud it was at most. */
const heard = ({ page }) =>
  page.evaluate(async () => {
    const connection = globalThis.connections.at(-1);
    const seen = { frames: 0, energy: 0, state: connection?.connectionState };
    for (const one of (await connection?.getStats())?.values() ?? []) {
      if (one.type !== 'inbound-rtp') continue;
      if (one.kind === 'video') seen.frames += one.framesDecoded ?? 0;
      if (one.kind === 'audio') seen.energy += one.totalAudioEnergy ?? 0;
    }
    return seen;
  });

/** Frames that the element with the other one's picture has shown. */
const drawn = ({ page }) =>
  page.evaluate(
    () =>
      new Promise(resolve => {
        const video = document.querySelector('kith-widget').shadowRoot.querySelector('.call-remote');
        const done = setTimeout(() => resolve(0), 10_000);
        let frames = 0;
        const next = () => {
          frames += 1;
          if (frames < 3) return video.requestVideoFrameCallback(next);
          clearTimeout(done);
          resolve(frames);
        };
        video.requestVideoFrameCallback(next);
      }),
  );

async function flows(widget, pictures = true) {
  const enough = ({ frames, energy }) => energy > 0 && (!pictures || frames > 5);
  const look = async () => {
    const now = await heard(widget);
    return enough(now) ? now : undefined;
  };
  return until(look, 'pictures and voices come in', 30_000);
}

describe('a call through the widget', () => {
  test('with pictures: both see and hear each other, and the entry stays', async () => {
    const [anna, tom] = await pair('anna', 'tom');
    await call(anna, 'tom', 'Video call');
    await card(tom).waitFor();
    assert.equal(await card(tom).getAttribute('aria-label'), 'Anna Lindqvist is calling with video');
    await assertAccessible(tom.page, 'the ring card');
    assert.equal(await line(anna), 'Calling…');
    await button(tom, 'Accept with video').click();
    await Promise.all([flows(anna), flows(tom)]);
    assert.deepEqual(await Promise.all([drawn(anna), drawn(tom)]), [3, 3]);
    await until(async () => /^\d+:\d\d · direct$/.test(await line(anna)), 'the line says direct');
    for (const one of [anna, tom]) await assertAccessible(one.page, 'the call window');

    await button(anna, 'Mute microphone').click();
    await until(async () => (await line(tom)).endsWith(' is muted'), 'he sees that she is muted');
    await button(anna, 'Unmute microphone').click();
    await button(anna, 'Turn camera off').click();
    await until(() => frame(tom).locator('.call-face').isVisible(), 'her face stands for her picture');
    await button(anna, 'Turn camera on').click();
    await until(() => frame(tom).locator('.call-face').isHidden(), 'her picture is back');
    await button(anna, 'Devices and more').click();
    await frame(anna).getByLabel('Microphone').waitFor();
    await assertAccessible(anna.page, 'the options of a call');

    await button(tom, 'Hang up').click();
    for (const one of [anna, tom])
      await until(async () => /^Call ended after/.test(await line(one)), 'both read how long it was');
    await assertAccessible(anna.page, 'a call that is over');
    await anna.page.locator('kith-widget .call-entry-text', { hasText: 'Video call, 0:' }).waitFor();
    await button(anna, 'Call again').waitFor();
    await button(anna, 'Close').last().click();
    await frame(anna).waitFor({ state: 'detached' });
    for (const one of [anna, tom]) {
      assertNoTrouble(one.page.context());
      await one.page.context().close();
    }
  });

  test('by voice survives a reload of either, and ends for both whoever ends it', async () => {
    const [raj, mei] = await pair('raj', 'mei');
    await call(raj, 'mei', 'Audio call');
    await button(mei, 'Accept with voice').click();
    await Promise.all([flows(raj, false), flows(mei, false)]);
    for (const one of [raj, mei]) {
      await one.page.reload();
      await until(
        async () => /^\d+:\d\d/.test(await line(one).catch(() => '')),
        'it is back in the call',
        20_000,
      );
      await Promise.all([flows(raj, false), flows(mei, false)]);
    }
    await button(raj, 'Hang up').click();
    await until(async () => /^Call ended/.test(await line(mei)), 'she reads that it is over');
    for (const one of [raj, mei]) {
      assertNoTrouble(one.page.context());
      await one.page.context().close();
    }
  });

  test('that is declined, and one that nobody lets ring on', async () => {
    const [anna, tom] = await pair('anna', 'tom');
    await call(anna, 'tom', 'Audio call');
    await button(tom, 'Decline').click();
    await until(async () => (await line(anna)).endsWith(' has declined.'), 'she reads that he has declined');
    await frame(anna).waitFor({ state: 'detached', timeout: 10_000 });
    await call(anna, 'tom', 'Audio call');
    await card(tom).waitFor();
    await button(anna, 'Hang up').click();
    await card(tom).waitFor({ state: 'detached' });
    await openChat(tom, 'anna');
    await tom.page.locator('kith-widget .call-missed', { hasText: 'Missed audio call' }).last().waitFor();
    await button(tom, 'Call back').last().click();
    await card(anna).waitFor();
    await button(anna, 'Decline').click();
    for (const one of [anna, tom]) {
      assertNoTrouble(one.page.context());
      await one.page.context().close();
    }
  });

  test('rings on a phone over everything, in the dark, and takes the focus', async () => {
    const [anna, tom] = await pair('anna', 'tom', { ...PHONE, colorScheme: 'dark' });
    await call(tom, 'anna', 'Video call');
    await card(anna).waitFor();
    await anna.page.evaluate(settled);
    assert.deepEqual(await card(anna).boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
    assert.equal(await card(anna).evaluate(one => one.getRootNode().activeElement === one), true);
    await assertAccessible(anna.page, 'the ring card of a phone');
    await button(anna, 'Accept with voice').click();
    await flows(anna);
    await assertAccessible(anna.page, 'the call window of a phone');
    await button(anna, 'Hang up').click();
    for (const one of [anna, tom]) {
      assertNoTrouble(one.page.context());
      await one.page.context().close();
    }
  });
});
