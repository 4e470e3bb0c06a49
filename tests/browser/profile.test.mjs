// A member's own profile and its privacy, and profiles of other members: on a desktop, on a dark phone, by keyboard.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
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
    await anna.page.getByRole('combobox', { name: 'Clear after' }).selectOption('week');
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
      .getByRole('group', { name: 'Who can see when you are online' })
      .getByRole('radio', { name: 'Nobody' })
      .click();
    await until(async () => (await tom.presence()).startsWith('Offline'), 'Tom sees her no more');
    await anna.page.getByRole('button', { name: 'Back to the list' }).click();
  });
});

test('the setting for messages is stored on the server, and blocked users are unblocked', async () => {
  await asMembers(browser, kith, ['raj', 'jonas'], async (raj, jonas) => {
    await raj.tab('Me').click();
    await raj.page.getByRole('button', { name: /^Privacy/ }).click();
    await sheet(raj.page)
      .getByRole('group', { name: 'Who can start a chat with you' })
      .getByRole('radio', { name: 'Nobody' })
      .click();
    await raj.page.getByRole('button', { name: 'Back to the list' }).click();

    await jonas.chatWith('Raj');
    await jonas.say('Hello?');
    await jonas.becomes('Hello?', 'failed');
    await raj.chatWith('Jonas');
    await raj.say('I write first');
    await jonas.sees('I write first');
    await jonas.say('Then I may answer');
    await raj.sees('Then I may answer');

    await raj.page.locator('kith-widget .chat-face').click();
    await sheet(raj.page).getByRole('button', { name: 'Block' }).click();
    await raj.page.getByRole('alertdialog').getByRole('button', { name: 'Block' }).click();
    await raj.page.getByText('You blocked').waitFor();
    await raj.back();
    await raj.tab('Me').click();
    await raj.page.getByRole('button', { name: /^Blocked/ }).click();
    await assertAccessible(raj.page, 'who is blocked');
    await raj.page.getByRole('button', { name: /^Unblock/ }).click();
    await raj.page.getByText('No blocked people').first().waitFor();
  });
});

test('a second device is signed out, a copy is saved, and the account goes', async () => {
  await kith.command('site', 'set', 'demo', 'members.devices=true', 'members.remove=true');
  await asMembers(browser, kith, ['piotr', 'piotr', 'sofia'], async (laptop, phone, sofia) => {
    await laptop.chatWith('Sofia');
    await laptop.say('Soon I am gone');
    await sofia.chatWith('Piotr');
    await sofia.sees('Soon I am gone');
    await laptop.back();

    const devices = laptop.page.getByRole('button', { name: /^Devices/ });
    await until(async () => {
      await laptop.page.reload();
      await laptop.show();
      await laptop.tab('Me').click();
      // The tab requests the allowed changes when it is opened.
      return devices.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
    }, 'the site keeps devices');
    await phone.page.reload();
    await phone.show();
    await until(
      () => phone.page.evaluate(async () => (await globalThis.Kith.client()).status().state === 'online'),
      'the second device is back',
    );
    await devices.click();
    await laptop.page.getByText('This device').waitFor();
    await assertAccessible(laptop.page, 'the devices');
    await laptop.page
      .getByRole('button', { name: /^Sign out of/ })
      .first()
      .click();
    await phone.page.getByText('You are signed out.').waitFor();
    await laptop.page.getByRole('button', { name: 'Back to the list' }).click();

    await laptop.page.getByRole('button', { name: /^Your data/ }).click();
    await assertAccessible(laptop.page, 'the data');
    const saving = laptop.page.waitForEvent('download');
    await laptop.page.getByRole('button', { name: 'Download', exact: true }).click();
    const copy = await readFile(await (await saving).path(), 'utf8');
    const lines = copy
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    assert.equal(lines[0].type, 'profile');
    assert.ok(lines.some(line => line.type === 'message' && line.body === 'Soon I am gone'));

    await laptop.page.getByRole('checkbox', { name: /^Also delete/ }).click();
    await laptop.page.getByRole('button', { name: 'Delete my account' }).click();
    await laptop.page.getByRole('alertdialog').getByRole('button', { name: 'Delete my account' }).click();
    await sofia.page.locator('kith-widget .pane-chat').getByText('Deleted user').first().waitFor();
    await until(async () => !(await sofia.texts()).includes('Soon I am gone'), 'the message is gone');
  });
});
