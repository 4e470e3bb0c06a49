// Edits, deletions, replies, reactions, formatted text and emoji, through a real server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, until } from './browser.mjs';
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

/** A browser for each member. After `run` they are checked for trouble and closed. */
const as = (...asked) => asMembers(browser, kith, ...asked);

/** Messages of the browser while the server is down. */
const WITHOUT_SERVER = /WebSocket|ERR_CONNECTION|Failed to (load|fetch)/;

test('an edit, a deletion and a reaction reach the other one at once', async () => {
  await as(['ingrid', 'raj'], async (ingrid, raj) => {
    await ingrid.chatWith('Raj Patel');
    await raj.chatWith('Ingrid Haug');
    await ingrid.say('The shed is opne');
    await ingrid.say('Forget this one');
    await raj.sees('Forget this one');
    const sent = async () => (await ingrid.messages()).every(one => one.state !== 'sending');
    await until(sent, 'its sender knows');

    await ingrid.field.press('ArrowUp');
    assert.equal(await ingrid.field.inputValue(), 'Forget this one');
    await ingrid.field.press('Escape');
    assert.equal(await ingrid.field.inputValue(), '');

    await ingrid.act('opne', 'Edit');
    await ingrid.field.fill('The shed is **open**');
    await ingrid.field.press('Enter');
    await raj.sees('The shed is open');
    await raj.message('The shed is open').getByText('edited').waitFor();
    assert.equal(await raj.message('The shed is open').locator('strong').textContent(), 'open');

    await ingrid.act('Forget', 'Delete');
    await ingrid.page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await raj.page.getByText('Message deleted').first().waitFor();
    assert.ok(!(await raj.texts()).includes('Forget this one'));

    await raj.act('The shed is open', '👍', 'menuitemcheckbox');
    const chip = ingrid.message('The shed is open').locator('.reaction');
    await chip.waitFor();
    assert.equal(await chip.getAttribute('aria-label'), '👍 from 1 person');
    await chip.click();
    await until(
      async () =>
        (await raj.message('The shed is open').locator('.reaction').getAttribute('aria-label')) ===
        '👍 from 2 people',
      'both have reacted',
    );
    // After a reload the page shows the same messages.
    await raj.page.reload();
    await raj.show();
    await raj.page.locator('kith-widget .chat-row', { hasText: 'Ingrid Haug' }).locator('.row-main').click();
    const again = raj.message('The shed is open').locator('.reaction');
    await again.waitFor();
    assert.equal(await again.getAttribute('aria-pressed'), 'true');
    await again.click();
    await until(async () => (await chip.getAttribute('aria-label')) === '👍 from 1 person', 'taken back');
  });
});

test('an edit made without a connection is shown, waits, and arrives', async () => {
  await as(
    ['anna', 'mei'],
    async (anna, mei) => {
      await anna.chatWith('Mei Tanaka');
      await mei.chatWith('Anna Lindqvist');
      await anna.say('See you at nien');
      await mei.sees('See you at nien');
      // Wait for late requests.
      await anna.page.waitForLoadState('networkidle');
      await kith.kill();
      await anna.page.getByText('You are offline').waitFor();
      await anna.act('nien', 'Edit');
      await anna.field.fill('See you at nine');
      await anna.field.press('Enter');
      await anna.sees('See you at nine');
      await anna.becomes('See you at nine', 'sending');
      await kith.up();
      await until(async () => (await mei.texts()).includes('See you at nine'), 'the edit arrives', 90_000);
    },
    { except: WITHOUT_SERVER },
  );
});

test('a reply jumps to what it answers, however far back', async () => {
  await as(['yusuf', 'sofia'], async (yusuf, sofia) => {
    await yusuf.chatWith('Sof');
    await sofia.chatWith('Yusuf');
    await yusuf.say('The very first');
    await sofia.sees('The very first');
    await sofia.act('The very first', 'Reply');
    await sofia.say('An answer to it');
    await yusuf.sees('An answer to it');
    const quote = yusuf.message('An answer to it').locator('.quote');
    assert.match(await quote.textContent(), /You.*The very first/);
    await quote.click();
    await until(
      () =>
        yusuf.page.evaluate(() =>
          document
            .querySelector('kith-widget')
            .shadowRoot.activeElement?.textContent.includes('The very first'),
        ),
      'the original has the focus',
    );
  });
});

test('an emoji is found by its shortcode, in the picker, and is there again next time', async () => {
  await as(['ingrid'], async ingrid => {
    await ingrid.chatWith('Raj Patel');
    await ingrid.field.pressSequentially('Well done :tad');
    await ingrid.page.getByRole('option', { name: ':tada:' }).waitFor();
    await assertAccessible(ingrid.page, 'suggestions');
    await ingrid.field.press('Enter');
    await until(
      async () => (await ingrid.field.inputValue()) === 'Well done 🎉 ',
      'the emoji is in the text',
    );
    await ingrid.field.pressSequentially(':+1:');
    await until(
      async () => (await ingrid.field.inputValue()).startsWith('Well done 🎉 👍'),
      'a whole shortcode',
    );

    await ingrid.page.getByRole('button', { name: 'Emoji' }).click();
    const dialog = ingrid.page.getByRole('dialog', { name: 'Emoji' });
    await dialog.waitFor();
    await assertAccessible(ingrid.page, 'the emoji picker');
    await ingrid.page.keyboard.type('hedgehog');
    await ingrid.page.keyboard.press('Enter');
    await until(async () => (await ingrid.field.inputValue()).includes('🦔'), 'picked by the keyboard');
    await ingrid.page.getByRole('button', { name: 'Emoji' }).click();
    await dialog.getByText('Recently used').waitFor();
    await ingrid.page.keyboard.press('Escape');
    await until(async () => (await dialog.count()) === 0, 'Escape closes it');
    await ingrid.say('🦔');
    await ingrid.page.locator('kith-widget .body-emoji').first().waitFor();
  });
});

test('on a phone a finger that stays opens the menu, and the picker is a sheet', async () => {
  await as(
    ['raj'],
    async raj => {
      await raj.chatWith('Ingrid Haug');
      await raj.say('Held by a finger');
      await raj.becomes('Held by a finger', 'sent');
      const bubble = raj.message('Held by a finger').locator('.bubble');
      const box = await bubble.boundingBox();
      const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      const session = await raj.page.context().newCDPSession(raj.page);
      await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
      await raj.page.getByRole('menu').waitFor();
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await assertAccessible(raj.page, 'the menu of a message on a phone');
      await raj.page.getByRole('menuitem', { name: 'Add a reaction' }).tap();
      await raj.page.locator('kith-widget .picker-sheet').waitFor();
      await assertAccessible(raj.page, 'the emoji sheet');
      await raj.page.locator('kith-widget .emoji').first().tap();
      await raj.message('Held by a finger').locator('.reaction').waitFor();
    },
    PHONE,
  );
});
