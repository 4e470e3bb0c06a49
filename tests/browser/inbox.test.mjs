// Search with a jump to the hit, drafts on two devices, and chats that are pinned, marked as unread or archived.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { asMembers } from './widget.mjs';

let browser;
let kith;
before(async () => {
  // The tests write a hundred messages faster than the limits allow.
  const fast = {
    KITH_LIMITS_SEND_BURST: '0',
    KITH_LIMITS_SEND_PER_MINUTE: '0',
    KITH_LIMITS_COMMAND_BURST: '0',
    KITH_LIMITS_COMMAND_PER_MINUTE: '0',
  };
  [browser, kith] = await Promise.all([launch(), Kith.start(fast)]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

const as = (...asked) => asMembers(browser, kith, ...asked);

const row = (widget, name) => widget.page.locator('kith-widget .chat-row', { hasText: name });
const message = (widget, text) => widget.page.locator('kith-widget [data-message]', { hasText: text }).last();
const filter = (widget, name) => widget.page.getByRole('radio', { name, exact: true });
const option = (widget, text) => widget.page.locator('kith-widget [role=option]', { hasText: text }).first();

async function rowMenu(widget, name, item) {
  await row(widget, name).locator('.row-main').click({ button: 'right' });
  await widget.page.getByRole('menuitem', { name: item, exact: true }).click();
}

async function search(widget, text) {
  await widget.page.getByRole('button', { name: 'Search', exact: true }).click();
  const field = widget.page.getByRole('combobox', { name: 'Search people, rooms, messages' });
  await field.fill(text);
  return field;
}

const isOnScreen = (widget, text) =>
  until(
    () =>
      message(widget, text).evaluate(element => {
        const scroller = element.closest('.history-scroller').getBoundingClientRect();
        const box = element.getBoundingClientRect();
        return box.top >= scroller.top && box.bottom <= scroller.bottom;
      }),
    `“${text}” is on the screen`,
  );

test('a message of long ago is found, shown among its neighbours, and the way leads back', async () => {
  await as(['anna', 'raj'], async (anna, raj) => {
    await raj.chatWith('Anna Lindqvist');
    await raj.say('The Größe of the needle is “kleine Nähnadel”');
    await raj.say('مرحبا، الإبرة هنا');
    for (let n = 1; n <= 80; n++) await raj.say(`hay number ${n}`);
    await raj.becomes('hay number 80', 'received');
    await row(anna, 'Raj Patel').getByText('hay number 80').waitFor();

    // The server indexes a message a moment after it was posted.
    const field = await search(anna, 'nahnadel');
    await until(async () => {
      await field.fill('nahnade');
      await field.fill('nahnadel');
      await anna.page.waitForTimeout(300);
      return (await option(anna, 'Nähnadel').count()) > 0;
    }, 'the message is found');
    assert.equal(await option(anna, 'Nähnadel').locator('mark').first().textContent(), 'Nähnadel');
    await assertAccessible(anna.page, 'what was found');
    await field.press('Enter');
    await message(anna, 'Nähnadel').waitFor();
    await isOnScreen(anna, 'Nähnadel');
    assert.ok(!(await anna.texts()).includes('hay number 80'), 'what is far from it is not loaded');
    await raj.say('the newest of all');
    await anna.page.getByRole('button', { name: /^Jump to newest/ }).click();
    await isOnScreen(anna, 'the newest of all');

    // Search in one chat only, from its menu, in Arabic.
    await anna.page.getByRole('button', { name: 'Actions for Raj Patel' }).last().click();
    await anna.page.getByRole('menuitem', { name: 'Search in this chat' }).click();
    const here = anna.page.getByRole('combobox', { name: 'Search messages' });
    await here.fill('الإبرة');
    await option(anna, 'مرحبا').waitFor();
    await assertAccessible(anna.page, 'search in a chat');
    await here.press('ArrowDown');
    await here.press('Enter');
    await isOnScreen(anna, 'مرحبا');
  });
});

test('one field finds people and rooms, by keys alone; Escape leads back to where one was', async () => {
  await as(['mei'], async mei => {
    const { page } = mei;
    await mei.createRoom('Rajasthan trip');
    await mei.back();
    await mei.tab('Chats').click();
    const field = await search(mei, 'raj');
    await option(mei, 'Raj Patel').waitFor();
    await option(mei, 'Rajasthan trip').waitFor();
    await page.getByRole('group', { name: 'Rooms' }).waitFor();
    await field.press('ArrowDown');
    await until(
      async () => (await option(mei, 'Rajasthan trip').getAttribute('aria-selected')) === 'true',
      'the arrow chooses the room',
    );
    await field.press('Enter');
    await page.getByRole('heading', { name: 'Rajasthan trip' }).waitFor({ state: 'attached' });
    await mei.back();
    await field.fill('nobody is called so');
    await page.getByText('No results for “nobody is called so”').waitFor();
    await field.press('Escape');
    assert.equal(await field.inputValue(), '');
    await field.press('Escape');
    await until(
      () =>
        page.evaluate(() => {
          const active = document.querySelector('kith-widget').shadowRoot.activeElement;
          return active?.classList.contains('search-open') ?? false;
        }),
      'the focus is where it was',
    );
    await mei.panel.waitFor();
  });
});

test('a draft is on the other device, and gone from it with the message', async () => {
  await as(['sofia', 'sofia', 'ingrid'], async (laptop, phone, ingrid) => {
    await ingrid.chatWith('Sofia');
    await ingrid.say('Do you have a minute?');
    await row(laptop, 'Ingrid').locator('.row-main').click();
    await laptop.field.pressSequentially('In an hour');
    await row(phone, 'Ingrid').getByText('In an hour').waitFor();
    await row(phone, 'Ingrid').locator('.row-main').click();
    await until(async () => (await phone.field.inputValue()) === 'In an hour', 'the draft is in the field');
    await phone.field.pressSequentially(' at the gate');
    await phone.field.press('Enter');
    await laptop.sees('In an hour at the gate');
    await until(async () => (await laptop.field.inputValue()) === '', 'the draft is gone');
  });
});

test('chats are marked as unread, pinned, muted and archived, and lists show them', async () => {
  await as(
    ['yusuf', 'raj', 'mei'],
    async (yusuf, raj, mei) => {
      for (const one of [raj, mei]) {
        await one.chatWith('Yusuf');
        await one.say('Hello @yusuf');
      }
      await row(yusuf, 'Raj Patel').waitFor();
      await row(yusuf, 'Mei Tanaka').waitFor();
      await filter(yusuf, 'Mentions').click();
      await until(async () => (await row(yusuf, '').count()) >= 2, 'both are mentions');
      await assertAccessible(yusuf.page, 'the list of mentions');
      await filter(yusuf, 'All').click();
      await rowMenu(yusuf, 'Raj Patel', 'Mark as read');
      await filter(yusuf, 'Unread').click();
      await until(async () => (await row(yusuf, 'Raj Patel').count()) === 0, 'what was read is not there');
      await filter(yusuf, 'All').click();
      await rowMenu(yusuf, 'Raj Patel', 'Mark as unread');
      await row(yusuf, 'Raj Patel').locator('.badge-dot').waitFor();
      await assertAccessible(yusuf.page, 'a chat that is marked as unread');
      await filter(yusuf, 'Unread').click();
      await row(yusuf, 'Raj Patel').locator('.row-main').click();
      await yusuf.field.waitFor();
      await yusuf.back();
      await until(async () => (await row(yusuf, 'Raj Patel').count()) === 0, 'it was opened');

      await filter(yusuf, 'All').click();
      await rowMenu(yusuf, 'Raj Patel', 'Pin to top');
      await until(
        async () => (await row(yusuf, '').first().textContent()).includes('Raj Patel'),
        'what is pinned comes first',
      );
      await rowMenu(yusuf, 'Raj Patel', 'Mute for 8 hours');
      await row(yusuf, 'Raj Patel').getByText('Muted').waitFor({ state: 'attached' });
      await rowMenu(yusuf, 'Mei Tanaka', 'Archive');
      await until(async () => (await row(yusuf, 'Mei Tanaka').count()) === 0, 'it is put away');
      await filter(yusuf, 'Archived').click();
      await row(yusuf, 'Mei Tanaka').waitFor();
      await filter(yusuf, 'Mentions').click();
      await yusuf.page.getByText('No mentions').waitFor();
      await assertAccessible(yusuf.page, 'an empty list');
    },
    PHONE,
  );
});

test('both members see a pinned message above the chat, and a click leads to it', async () => {
  await as(['anna', 'mei'], async (anna, mei) => {
    await anna.chatWith('Mei Tanaka');
    await mei.chatWith('Anna Lindqvist');
    await anna.say('The gate code is 4711');
    for (let n = 1; n <= 30; n++) await anna.say(`and line ${n}`);
    await mei.sees('and line 30');
    await mei.act('gate code', 'Pin for everyone');
    const bar = widget => widget.page.getByRole('button', { name: /Pinned message/ });
    for (const one of [anna, mei]) await bar(one).getByText('The gate code is 4711').waitFor();
    await bar(anna).click();
    await isOnScreen(anna, 'gate code');
    await assertAccessible(anna.page, 'a pinned message');
    await anna.act('gate code', 'Unpin');
    for (const one of [anna, mei]) await bar(one).waitFor({ state: 'detached' });
  });
});
