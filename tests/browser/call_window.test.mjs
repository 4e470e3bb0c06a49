// Two members call each other through the widget, with the browser's fake camera and microphone. Video and audio flow
// in both directions, a reload rejoins the call, and either member ends it for both.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { assertAccessible, PHONE, settled, until } from './browser.mjs';
import {
  befriend,
  browserOf,
  button,
  bye,
  call,
  card,
  flows,
  frame,
  launchForCalls,
  line,
  online,
  openChat,
  pair,
} from './calling.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launchForCalls(), Kith.start()]);
});
// A member who stays in a call after a failed test would be busy in the next one.
afterEach(() => Promise.all(browser.contexts().map(context => context.close())));
after(async () => {
  await browser.close();
  await kith.stop();
});

/** The number of frames that the element with the other member's video has shown. */
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

describe('a call through the widget', () => {
  test('with pictures: both see and hear each other, and the entry stays', async () => {
    const [anna, tom] = await pair(browser, kith, 'anna', 'tom');
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
    await button(anna, 'Devices and options').click();
    await button(anna, 'Put call on hold').click();
    await until(async () => (await line(anna)).startsWith('On hold'), 'she is told that she holds it');
    await until(async () => (await line(tom)).endsWith(' put the call on hold'), 'and so is he');
    await button(anna, 'Put call on hold').click();
    await until(() => frame(tom).locator('.call-face').isHidden(), 'her picture is back');
    await frame(anna).getByRole('combobox', { name: 'Microphone' }).waitFor();
    await assertAccessible(anna.page, 'the options of a call');

    await button(tom, 'Hang up').click();
    for (const one of [anna, tom])
      await until(async () => /^Call ended after/.test(await line(one)), 'both read how long it was');
    await assertAccessible(anna.page, 'a call that is over');
    await anna.page.locator('kith-widget .call-entry-text', { hasText: 'Video call, 0:' }).waitFor();
    await button(anna, 'Call again').waitFor();
    await button(anna, 'Close').last().click();
    await frame(anna).waitFor({ state: 'detached' });
    await bye(anna, tom);
  });

  test('by voice survives a reload of either, and either member ends it for both', async () => {
    const [raj, mei] = await pair(browser, kith, 'raj', 'mei');
    await call(raj, 'mei', 'Audio call');
    await button(mei, 'Accept with voice only').click();
    await Promise.all([flows(raj, false), flows(mei, false)]);
    for (const one of [raj, mei]) {
      await until(async () => (await seconds(one)) >= 2, 'the timer runs');
      const before = await seconds(one);
      await one.page.reload();
      let after = Number.NaN;
      await until(
        async () => {
          after = await seconds(one).catch(() => Number.NaN);
          return !Number.isNaN(after);
        },
        'it is back in the call',
        20_000,
      );
      assert.ok(after >= before, `the timer goes on: ${before} s before the reload, ${after} s after it`);
      await Promise.all([flows(raj, false), flows(mei, false)]);
    }
    await button(raj, 'Hang up').click();
    await until(async () => /^Call ended/.test(await line(mei)), 'she reads that it is over');
    await bye(raj, mei);
  });

  test('that is declined, and one that the caller cancels', async () => {
    const [one, other] = await pair(browser, kith, 'sofia', 'hamish');
    await call(one, 'hamish', 'Audio call');
    await button(other, 'Decline').click();
    await until(async () => (await line(one)).endsWith(' declined.'), 'she reads that he has declined');
    await frame(one).waitFor({ state: 'detached', timeout: 10_000 });
    await call(one, 'hamish', 'Audio call');
    await card(other).waitFor();
    await button(one, 'Hang up').click();
    await card(other).waitFor({ state: 'detached' });
    await openChat(other, 'sofia');
    await other.page.locator('kith-widget .call-missed', { hasText: 'Missed audio call' }).last().waitFor();
    await button(other, 'Call back').last().click();
    await card(one).waitFor();
    await button(one, 'Decline').click();
    await bye(one, other);
  });

  test('rings on a phone over everything, in the dark, and takes the focus', async () => {
    const [amara, tom] = await pair(browser, kith, 'amara', 'tom', { ...PHONE, colorScheme: 'dark' });
    await call(tom, 'amara', 'Video call');
    await card(amara).waitFor();
    await amara.page.evaluate(settled);
    assert.deepEqual(await card(amara).boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
    assert.equal(await card(amara).evaluate(one => one.getRootNode().activeElement === one), true);
    await assertAccessible(amara.page, 'the ring card of a phone');
    await button(amara, 'Accept with voice only').click();
    await flows(amara);
    await assertAccessible(amara.page, 'the call window of a phone');
    await button(amara, 'Hang up').click();
    await bye(amara, tom);
  });

  test('rings in all tabs of a browser, is taken in one, and stays when another one goes', async () => {
    const [one, other] = await pair(browser, kith, 'anna', 'raj');
    const second = await Widget.of(other.page.context(), kith, 'raj');
    await until(() => online(second), 'the second tab is online');
    await call(one, 'raj', 'Audio call');
    await Promise.all([card(other).waitFor(), card(second).waitFor()]);
    await button(second, 'Accept with voice only').click();
    await card(other).waitFor({ state: 'detached' });
    await flows(second, false);
    // The first tab held the connection. The second tab takes over the connection and the place in the call.
    await other.page.close();
    const again = () => second.page.evaluate(() => globalThis.connections.length > 1);
    await until(again, 'it has made another connection');
    await Promise.all([flows(one, false), flows(second, false)]);
    await button(second, 'Hang up').click();
    await until(async () => /^Call ended/.test(await line(one)), 'she reads that it is over');
    await bye(one, second);
  });

  test('shows a screen, and says so', async () => {
    const [one, other] = await pair(browser, kith, 'mei', 'hamish');
    await call(one, 'hamish', 'Audio call');
    await button(other, 'Accept with voice only').click();
    await flows(other, false);
    await button(one, 'Share your screen').click();
    await frame(other).locator('.call-whole').waitFor();
    await flows(other);
    await button(one, 'Stop sharing your screen').click();
    await frame(other).locator('.call-face').waitFor();
    await button(other, 'Hang up').click();
    await bye(one, other);
  });

  test('is moved by dragging and by keys, made large, and left by Escape', async () => {
    const [one, other] = await pair(browser, kith, 'sofia', 'tom');
    await call(one, 'tom', 'Audio call');
    await frame(one).waitFor();
    const move = button(one, 'Move the call window with the arrow keys');
    const box = () => frame(one).boundingBox();
    await one.page.evaluate(settled);
    const before = await box();
    await move.focus();
    for (const key of ['ArrowLeft', 'ArrowUp']) await one.page.keyboard.press(key);
    const moved = await box();
    assert.deepEqual([moved.x, moved.y], [before.x - 32, before.y - 32]);
    await one.page.mouse.move(moved.x + 40, moved.y + 100);
    await one.page.mouse.down();
    await one.page.mouse.move(0, 0, { steps: 4 });
    await one.page.mouse.up();
    const corner = await box();
    assert.deepEqual([corner.x, corner.y], [8, 8]);
    await button(one, 'Enlarge call window').click();
    assert.deepEqual(await box(), { x: 0, y: 0, width: 1280, height: 800 });
    await one.page.keyboard.press('Escape');
    assert.deepEqual(await box(), corner);
    await button(one, 'Hang up').click();
    await bye(one, other);
  });
});

describe('obstacles to a call', () => {
  test('a microphone that was refused: the reason, the button to click, and then the call', async () => {
    const [one, other] = await pair(browser, kith, 'amara', 'raj');
    await one.page.evaluate(() => {
      const { mediaDevices } = navigator;
      const given = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = wanted =>
        globalThis.allowed ? given(wanted) : Promise.reject(new DOMException('', 'NotAllowedError'));
    });
    await call(one, 'raj', 'Audio call');
    await frame(one).getByText('Your browser blocks the microphone on this page.').waitFor();
    await frame(one)
      .getByText(/at the left of the address bar/)
      .waitFor();
    await assertAccessible(one.page, 'a refused microphone');
    await one.page.evaluate(() => {
      globalThis.allowed = true;
    });
    await button(one, 'Try again').click();
    await card(other).waitFor();
    await button(one, 'Hang up').click();
    await bye(one, other);
  });

  test('a check tests the microphone, the camera and the network', async () => {
    const anna = await Widget.of(await browserOf(browser), kith, 'anna');
    await anna.tab('Me').click();
    const choice = anna.page.locator('kith-widget .choice', {
      hasText: 'Check microphone, camera and network',
    });
    await choice.click();
    const sheet = anna.page.locator('kith-widget .check');
    const level = sheet.getByRole('meter', { name: 'Microphone level' });
    await until(async () => Number(await level.evaluate(one => one.value)) > 0, 'the bar moves');
    await button(anna, 'Show camera').click();
    await until(
      () =>
        sheet
          .locator('.check-picture')
          .evaluate(one => one.videoWidth > 0)
          .catch(() => false),
      'the camera sees',
    );
    await sheet.getByText('Calls may not work between different networks').waitFor();
    await assertAccessible(anna.page, 'the check before a call');
    await anna.page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    assert.equal(await choice.evaluate(one => one.getRootNode().activeElement === one), true);
    await bye(anna);
  });

  test('a page with a strict policy can call; one that forbids the microphone shows the reason', async () => {
    const host = await hostPage(kith, 'strict');
    const mute = await hostPage(kith, 'strict', { permissions: 'microphone=(), camera=()' });
    await kith.addSite('strict', '--name', 'Strict', '--origin', host.origin, '--origin', mute.origin);
    const on = async (origin, user) => {
      const context = await browserOf(browser);
      const page = await context.newPage();
      await page.goto(`${origin}/?as=${user}`);
      const widget = new Widget(page);
      await widget.show();
      return widget;
    };
    const [ana, ben] = [await on(host.origin, 'ana'), await on(host.origin, 'ben')];
    await befriend([ana, ben], ['ana', 'ben']);
    await call(ana, 'ben', 'Video call');
    await button(ben, 'Accept with video').click();
    await Promise.all([flows(ana), flows(ben)]);
    for (const one of [ana, ben]) assert.deepEqual(await one.page.evaluate(() => globalThis.violations), []);
    await button(ben, 'Hang up').click();
    await until(async () => /^Call ended/.test(await line(ana)), 'she reads that it is over');
    const quiet = await on(mute.origin, 'ana');
    await until(() => online(quiet), 'she is online');
    await call(quiet, 'ben', 'Audio call');
    await frame(quiet).getByText('This page does not allow calls.').waitFor();
    await frame(quiet).getByText('The site administrator can allow it.').waitFor();
    for (const one of [ana, ben]) await bye(one);
    await quiet.page.context().close();
    await Promise.all([host.close(), mute.close()]);
  });
});

/** The duration of the call in its window, in seconds. NaN while the window shows another text. */
async function seconds(one) {
  const [, minutes, rest] = /^(\d+):(\d\d)/.exec(await line(one)) ?? [];
  return Number(minutes) * 60 + Number(rest);
}
