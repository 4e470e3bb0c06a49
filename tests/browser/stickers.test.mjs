// The stickers of the demo, from the picker to the other member's screen, by mouse and by keyboard.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { asMembers } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

const inWidget = (widget, selector) => widget.page.locator(`kith-widget ${selector}`);

test('a member sends a sticker, and the other sees it, until the site has it no more', async () => {
  await asMembers(browser, kith, ['anna', 'raj'], async (anna, raj) => {
    await anna.chatWith('Raj Patel');
    await raj.chatWith('Anna Lindqvist');
    const open = () => inWidget(anna, '.composer-emoji').click();
    await open();
    await anna.page.getByRole('radio', { name: 'Stickers' }).click();
    const choices = inWidget(anna, '.sticker-choice');
    await choices.first().locator('canvas.is-here').waitFor();
    assert.ok((await choices.count()) >= 6, 'the demo community has some');
    await assertAccessible(anna.page, 'the stickers of the picker');
    const words = await choices.first().getAttribute('aria-label');
    await choices.first().click();
    for (const widget of [anna, raj]) {
      const sticker = inWidget(widget, '[data-message] .sticker').last();
      await sticker.locator('canvas.is-here').waitFor();
      assert.equal(await sticker.locator('canvas').getAttribute('aria-label'), words);
    }
    await assertAccessible(raj.page, 'a sticker in a chat');

    // Use the keyboard.
    await open();
    await anna.page.getByRole('radio', { name: 'Emoji' }).focus();
    await anna.page.keyboard.press('ArrowRight');
    await anna.page.keyboard.press('Tab');
    await anna.page.keyboard.press('ArrowRight');
    await anna.page.keyboard.press('Enter');
    await until(
      async () => (await inWidget(raj, '[data-message] .sticker').count()) === 2,
      'the second comes',
    );

    const listed = JSON.parse(await kith.command('sticker', 'list', '--site', 'demo', '--json'));
    await kith.command('sticker', 'remove', '--site', 'demo', listed.find(one => one.words === words).id);
    // A browser that has cached the sticker may show it for a day. Another browser must not show it.
    await asMembers(browser, kith, ['raj'], async elsewhere => {
      await elsewhere.chatWith('Anna Lindqvist');
      await elsewhere.sees(words);
      const stickers = inWidget(elsewhere, '[data-message] .sticker');
      await until(async () => (await stickers.count()) === 1, 'the other one is there');
    });
  });
});

test('a sticker from the picker of a thread is a reply in it', async () => {
  await asMembers(browser, kith, ['anna', 'raj'], async (anna, raj) => {
    await anna.createRoom('Lakes');
    await anna.say('A new lake?');
    await raj.joinRoom('Lakes');
    await raj.sees('A new lake?');

    await raj.act('A new lake?', 'Reply in thread');
    await inWidget(raj, '.composer').getByRole('button', { name: 'Emoji' }).click();
    await raj.page.getByRole('radio', { name: 'Stickers' }).click();
    const choice = inWidget(raj, '.sticker-choice').nth(2);
    const words = await choice.getAttribute('aria-label');
    await choice.click();
    const sticker = widget =>
      inWidget(widget, `[data-message] .sticker canvas[aria-label="${words}"].is-here`);
    await sticker(raj).waitFor();
    await raj.page.getByText('1 reply').waitFor();
    await assertAccessible(raj.page, 'a sticker in a thread');
    await anna.page.getByRole('button', { name: '1 reply' }).click();
    await inWidget(anna, '.composer').waitFor();
    await sticker(anna).waitFor();
  });
});
