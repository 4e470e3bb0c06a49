// A voice message from the recording to its playback: level, preview, waveform, and a position that keys move.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, DESKTOP, PHONE, person, until } from './browser.mjs';
import { befriend, button, bye, launchForCalls, openChat } from './calling.mjs';
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

const inWidget = ({ page }, selector) => page.locator(`kith-widget ${selector}`);
const place = widget => inWidget(widget, '.voice-place').last();
const seconds = async widget => Number(await place(widget).inputValue());

/** The heights of the bars, in CSS pixels. */
const bars = widget =>
  inWidget(widget, '.waveform-bar').evaluateAll(all => all.map(one => one.getBoundingClientRect().height));

test('a voice message is heard before it is sent, and arrives with its waveform', async () => {
  const contexts = await Promise.all([person(browser, PHONE), person(browser, DESKTOP)]);
  const widgets = await Promise.all(contexts.map((one, at) => Widget.of(one, kith, ['mei', 'raj'][at])));
  const [mei, raj] = widgets;
  await befriend(widgets, ['mei', 'raj']);
  await openChat(mei, 'raj');
  await openChat(raj, 'mei');

  const record = async () => {
    await button(mei, 'Record a voice message').click();
    const time = inWidget(mei, '.recorder-time');
    await until(
      async () => Number((await time.textContent()).split(':')[1]) >= 2,
      'two seconds are recorded',
    );
    // The fake microphone beeps once a second.
    assert.ok(Math.max(...(await bars(mei))) > 10, 'the level is shown');
    await button(mei, 'Stop recording').click();
  };
  await record();
  await assertAccessible(mei.page, 'the preview of a voice message');
  const recorder = mei.page.locator('kith-widget').getByRole('group', { name: 'Voice message' });
  const [inside, around] = [
    await recorder.boundingBox(),
    await inWidget(mei, '.composer-line').boundingBox(),
  ];
  assert.ok(inside.x >= around.x && inside.x + inside.width <= around.x + around.width, 'it fits');
  await button(mei, 'Play voice message').click();
  await until(async () => (await seconds(mei)) > 0.3, 'the preview plays');
  await button(mei, 'Discard').click();
  await recorder.waitFor({ state: 'detached' });
  assert.equal(await inWidget(raj, '.voice').count(), 0, 'what is discarded is not sent');

  await record();
  await button(mei, 'Send').click();
  await inWidget(raj, '.voice').waitFor();
  const heights = await bars(raj);
  assert.ok(heights.length > 10 && heights.length <= 64, `${heights.length} bars before it is played`);
  assert.ok(Math.max(...heights) > 3 * Math.min(...heights), 'a beep is higher than the silence beside it');
  assert.equal(await place(raj).getAttribute('aria-valuetext'), '0:00');
  await place(raj).focus();
  for (let presses = 0; presses < 12; presses++) await place(raj).press('ArrowRight');
  assert.equal(await place(raj).getAttribute('aria-valuetext'), '0:01');
  await until(
    async () => (await inWidget(raj, '.waveform-bar.is-played').count()) > 3,
    'the position is shown',
  );
  await button(raj, 'Play voice message').click();
  await until(async () => (await seconds(raj)) > 1.4, 'it plays from there');
  await assertAccessible(raj.page, 'a voice message');
  await bye(...widgets);
});
