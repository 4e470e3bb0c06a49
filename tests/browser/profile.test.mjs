// A member's own profile, who may see what of it, and the profile of somebody else: on a desktop, on a dark phone, by keyboard.

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

const sheet = page => page.getByRole('dialog', { name: /profile|privacy|blocked/i });

test('a status is set, seen in the profile by others, and privacy hides who is here', async () => {
  await asMembers(browser, kith, ['anna', 'tom'], async (anna, tom) => {
    await anna.tab('Me').click();
    await anna.page.getByRole('button', { name: 'Set a status' }).click();
    await anna.page.getByRole('textbox', { name: 'Status' }).fill('🌴 On holiday');
    await anna.page.getByRole('combobox', { name: 'Goes away' }).selectOption('week');
    await assertAccessible(anna.page, 'a status');
    await anna.page.getByRole('button', { name: 'Save' }).click();
    await anna.page.getByRole('button', { name: '🌴 On holiday' }).waitFor();
    await assertAccessible(anna.page, 'the tab about oneself');

    await tom.chatWith('Anna');
    await tom.page.locator('kith-widget .chat-face').click();
    await sheet(tom.page).getByText('🌴 On holiday').waitFor();
    await sheet(tom.page).getByText('Online').first().waitFor({ state: 'attached' });
    await assertAccessible(tom.page, 'a profile');
    await tom.page.keyboard.press('Escape');
    assert.equal(await sheet(tom.page).count(), 0);

    await anna.page.getByRole('button', { name: /^Privacy/ }).click();
    await assertAccessible(anna.page, 'privacy');
    await sheet(anna.page)
      .getByRole('group', { name: 'Who sees that you are here' })
      .getByRole('radio', { name: 'Nobody' })
      .click();
    await until(async () => (await tom.presence()).startsWith('Offline'), 'Tom sees her no more');
    await anna.page.getByRole('button', { name: 'Back to the list' }).click();
  });
});

test('who may write is asked of the server, and blocked ones are let go', async () => {
  await asMembers(browser, kith, ['mira', 'jonas'], async (mira, jonas) => {
    await mira.tab('Me').click();
    await mira.page.getByRole('button', { name: /^Privacy/ }).click();
    await sheet(mira.page)
      .getByRole('group', { name: 'Who may start a chat with you' })
      .getByRole('radio', { name: 'Nobody new' })
      .click();
    await mira.page.getByRole('button', { name: 'Back to the list' }).click();

    await jonas.chatWith('Mira');
    await jonas.say('Hello?');
    await jonas.becomes('Hello?', 'failed');
    await mira.chatWith('Jonas');
    await mira.say('I write first');
    await jonas.sees('I write first');
    await jonas.say('Then I may answer');
    await mira.sees('Then I may answer');

    await mira.page.locator('kith-widget .chat-face').click();
    await sheet(mira.page).getByRole('button', { name: 'Block' }).click();
    await mira.page.getByRole('alertdialog').getByRole('button', { name: 'Block' }).click();
    await mira.page.getByText('You have blocked').waitFor();
    await mira.back();
    await mira.tab('Me').click();
    await mira.page.getByRole('button', { name: /^Blocked/ }).click();
    await assertAccessible(mira.page, 'who is blocked');
    await mira.page.getByRole('button', { name: /^Unblock/ }).click();
    await mira.page.getByText('Nobody is blocked').first().waitFor();
  });
});
