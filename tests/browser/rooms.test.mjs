// Rooms through a real server: creation, directory, joins, messages, moderation, leaving.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, shot, until } from './browser.mjs';
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

const as = (...asked) => asMembers(browser, kith, ...asked);

async function createRoom(widget, name, kind = 'Public room', topic = '') {
  await widget.createRoom(name, kind, async () => {
    if (topic) await widget.page.getByRole('textbox', { name: /^Topic/ }).fill(topic);
    await assertAccessible(widget.page, 'making a room');
  });
}

const message = (widget, text) => widget.page.locator('kith-widget [data-message]', { hasText: text }).last();

/** Carries out an action of the owner on a member, in the list of members. */
async function withMember(widget, name, action) {
  await widget.page.locator('kith-widget .room-row .row-main', { hasText: name }).first().click();
  await widget.page.getByRole('menuitem', { name: action, exact: true }).click();
}

test('a room is made, found in the directory, joined, and talked in', async () => {
  await as(['anna', 'raj', 'mei'], async (anna, raj, mei) => {
    await createRoom(anna, 'Bike repairs', 'Public room', 'Chains, tubes and other troubles');
    await anna.say('Welcome, everybody!');

    await raj.openRoom('Bike repairs');
    await assertAccessible(raj.page, 'a room of which one is no member');
    await raj.sees('Welcome, everybody!');
    await raj.page.getByRole('button', { name: 'Join' }).click();
    await raj.field.waitFor();
    await raj.say('Hello Anna, my chain is broken');
    await anna.sees('Hello Anna, my chain is broken');
    await message(anna, 'my chain').getByText('Raj Patel').first().waitFor();

    await mei.joinRoom('Bike repairs');
    await mei.say('I have a spare one');
    await raj.sees('I have a spare one');
    await assertAccessible(raj.page, 'a room');

    // A mention is completed by the name, shown as the name, and counted while it is unread.
    await mei.back();
    await raj.field.pressSequentially('Thanks @mei');
    await raj.page.getByRole('option', { name: /Mei Tanaka/ }).click();
    await until(async () => /@\S+ $/.test(await raj.field.inputValue()), 'the id is in the text');
    await raj.field.press('Enter');
    await message(raj, 'Thanks').locator('.mention', { hasText: '@Mei Tanaka' }).waitFor();
    await mei.tab('Chats').click();
    const row = mei.page.locator('kith-widget .chat-row', { hasText: 'Bike repairs' });
    await row.getByText('1 mention of you').waitFor({ state: 'attached' });
    await row.locator('.row-preview', { hasText: /Raj Patel.*Thanks/ }).waitFor();
    await row.locator('.row-main').click();
    await message(mei, 'Thanks').locator('.mention-me').waitFor();
  });
});

test('the owner keeps order: muted, frozen, slow, removed, banned', async () => {
  await as(['ingrid', 'yusuf'], async (ingrid, yusuf) => {
    await createRoom(ingrid, 'Committee talk');
    await yusuf.joinRoom('Committee talk');
    await yusuf.say('I am here');
    await ingrid.sees('I am here');

    await ingrid.page.locator('kith-widget .room-head').click();
    await ingrid.page.locator('kith-widget .room-row', { hasText: 'Yusuf' }).waitFor();
    await assertAccessible(ingrid.page, 'the members of a room');
    await withMember(ingrid, 'Yusuf', 'Mute in this room');
    const dialog = ingrid.page.getByRole('dialog', { name: 'Mute Yusuf' });
    await dialog.getByRole('combobox', { name: 'Duration' }).selectOption({ label: '1 hour' });
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Too loud');
    await assertAccessible(ingrid.page, 'muting a member of a room');
    await dialog.getByRole('button', { name: 'Mute in this room' }).click();
    await yusuf.page.getByText(/You are muted in this room until .*\d/).waitFor();
    await yusuf.page.getByText('Too loud').waitFor();
    assert.equal(await ingrid.page.getByText('Too loud').count(), 0);
    await assertAccessible(yusuf.page, 'a room in which one is muted');
    assert.equal(await yusuf.field.count(), 0);
    await withMember(ingrid, 'Yusuf', 'Unmute');
    await yusuf.field.waitFor();

    await ingrid.page.getByRole('button', { name: 'Settings' }).click();
    await ingrid.page.getByRole('switch', { name: 'Pause the room' }).click();
    await yusuf.page.getByText('This room is paused').waitFor();
    await assertAccessible(ingrid.page, 'the settings of a room');
    await ingrid.page.getByRole('switch', { name: 'Pause the room' }).click();
    await yusuf.field.waitFor();
    await ingrid.page.getByRole('combobox', { name: 'Slow mode' }).selectOption('30');
    await yusuf.say('One in thirty seconds');
    await yusuf.page.getByText(/Slow mode: wait \d+ seconds/).waitFor();
    await ingrid.page.getByRole('button', { name: 'Back to chat' }).click();

    // The owner may delete a member's message.
    await ingrid.page.getByRole('button', { name: 'Back to chat' }).click();
    await ingrid.act('I am here', 'Delete');
    await ingrid.page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await yusuf.page.getByText('Message deleted').first().waitFor();

    await ingrid.page.locator('kith-widget .room-head').click();
    await withMember(ingrid, 'Yusuf', 'Ban from room');
    const ban = ingrid.page.getByRole('dialog', { name: /^Ban Yusuf/ });
    await ban.getByRole('combobox', { name: 'Duration' }).selectOption({ label: 'Permanent' });
    await ban.getByRole('button', { name: 'Ban from room' }).click();
    await yusuf.page
      .getByText(/banned from the room/)
      .first()
      .waitFor({ state: 'attached' });
    await until(async () => (await yusuf.field.count()) === 0, 'one may not write any more');
  });
});

test('a join is seen by those who are in the room, and a full room takes nobody', async () => {
  await as(['anna', 'raj', 'mei'], async (anna, raj, mei) => {
    await createRoom(anna, 'Small talk');
    const count = widget => widget.page.locator('kith-widget .room-head .chat-presence');
    await count(anna).getByText('1 member').waitFor();
    await raj.joinRoom('Small talk');
    await count(anna).getByText('2 members').waitFor();
    await anna.page.getByText('Raj Patel joined').waitFor();
    assert.equal(await raj.page.getByText('Raj Patel joined').count(), 0);

    await anna.page.locator('kith-widget .room-head').click();
    await anna.page.getByRole('button', { name: 'Settings' }).click();
    const most = anna.page.getByRole('spinbutton', { name: 'Maximum number of members' });
    await most.fill('2');
    await most.press('Tab');
    await assertAccessible(anna.page, 'the size of a room');
    await mei.openRoom('Small talk');
    await until(async () => {
      await mei.page.getByRole('button', { name: 'Join' }).click();
      return (await mei.page.getByText('This room is full.').count()) > 0;
    }, 'the room is full');
  });
});

test('the owner of a room chooses its picture, which all members see, and a moderator removes it', async () => {
  await as(['anna', 'raj'], async (anna, raj) => {
    await createRoom(anna, 'Photo walks');
    await raj.joinRoom('Photo walks');
    const settings = async () => {
      await anna.page.locator('kith-widget .room-head').click();
      await anna.page.getByRole('button', { name: 'Settings' }).click();
    };
    await settings();
    const input = anna.page.locator('kith-widget .room-picture input[type=file]');
    const failed = anna.page.getByRole('alert').filter({ hasText: 'damaged or not supported' });
    await input.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await failed.waitFor();
    const picture = await anna.page.screenshot({ clip: { x: 0, y: 0, width: 700, height: 500 } });
    await input.setInputFiles({ name: 'walk.png', mimeType: 'image/png', buffer: picture });
    await anna.page.locator('kith-widget .room-picture canvas').waitFor();
    assert.equal(await failed.count(), 0);
    await assertAccessible(anna.page, 'choosing the picture of a room');
    await shot(anna.page, 'picture-chosen');
    await anna.page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await raj.page.locator('kith-widget .room-head img').count(), 0);

    await input.setInputFiles({ name: 'walk.png', mimeType: 'image/png', buffer: picture });
    await anna.page.getByRole('button', { name: 'Use this picture' }).click();
    const shown = raj.page.locator('kith-widget .avatar-room img.avatar-image').first();
    await shown.waitFor();
    await until(() => shown.evaluate(one => one.complete && one.naturalWidth === 480), 'the picture is here');
    assert.match(await shown.getAttribute('src'), /\/v1\/room-pictures\/\d+\/[0-9a-f]{16}$/);
    await shot(anna.page, 'picture-set');

    await anna.page.getByRole('button', { name: 'Back to chat' }).click();
    await withMember(anna, 'Raj', 'Make moderator');
    await raj.page.locator('kith-widget .room-head').click();
    await raj.page.getByRole('button', { name: 'Settings' }).click();
    const remove = raj.page.getByRole('button', { name: 'Remove picture' });
    await remove.waitFor();
    assert.equal(await raj.page.getByRole('button', { name: 'Choose a picture' }).count(), 0);
    await remove.click();
    await until(
      async () => (await anna.page.locator('kith-widget .avatar-room img').count()) === 0,
      'it is gone',
    );
  });
});

test('an owner sees who is muted or banned, until when and why, and lifts both', async () => {
  await as(['anna', 'raj', 'mei'], async (anna, raj, mei) => {
    await createRoom(anna, 'Quiet corner');
    for (const widget of [raj, mei]) await widget.joinRoom('Quiet corner');
    await anna.page.locator('kith-widget .room-head').click();
    const sanction = async (name, action, duration, reason) => {
      await withMember(anna, name, action);
      const dialog = anna.page.getByRole('dialog');
      await dialog.getByRole('combobox', { name: 'Duration' }).selectOption({ label: duration });
      await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason);
      await dialog.getByRole('button', { name: action }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await sanction('Raj', 'Mute in this room', '1 hour', 'Too loud');
    await sanction('Mei', 'Ban from room', 'Permanent', 'Spam');
    await anna.page.getByRole('button', { name: 'Muted and banned' }).click();
    const row = name => anna.page.locator('kith-widget .sanctioned-row', { hasText: name });
    await row('Raj')
      .getByText(/^Muted · until .*\d/)
      .waitFor();
    await row('Raj').getByText('Reason: Too loud').waitFor();
    await row('Mei').getByText('Banned · Permanent').waitFor();
    await row('Mei').getByText('Reason: Spam').waitFor();
    await assertAccessible(anna.page, 'who is muted in a room or banned from it');
    await shot(anna.page, 'sanctioned');
    await row('Raj').getByRole('button', { name: 'Unmute' }).click();
    await raj.field.waitFor();
    await row('Mei').getByRole('button', { name: 'Unban' }).click();
    await anna.page.getByText('Nobody is muted or banned.').waitFor();
    await anna.page.getByRole('button', { name: 'Back to chat' }).click();
    await anna.page.getByRole('button', { name: 'Muted and banned' }).click();
    await anna.page.getByText('Nobody is muted or banned.').waitFor();
  });
});

test('in a room of announcements members read; one leaves it, and it is gone from the list', async () => {
  await as(
    ['sofia', 'mei'],
    async (sofia, mei) => {
      await createRoom(sofia, 'Garden news', 'Announcements');
      await sofia.say('The gate stays open on Sunday');
      await mei.openRoom('Garden news');
      await mei.page.getByRole('button', { name: 'Join' }).click();
      await mei.page.getByText('Only the owner and moderators can write here.').waitFor();
      await assertAccessible(mei.page, 'a room of announcements on a phone');
      await mei.page.getByRole('button', { name: 'Actions for Garden news' }).last().click();
      await mei.page.getByRole('menuitem', { name: 'Leave room' }).click();
      await mei.page.getByRole('alertdialog').getByRole('button', { name: 'Leave room' }).click();
      await mei.page.getByRole('button', { name: 'Join' }).waitFor();
      await mei.back();
      await mei.tab('Chats').click();
      assert.equal(await mei.page.locator('kith-widget .chat-row', { hasText: 'Garden news' }).count(), 0);
    },
    PHONE,
  );
});

test('an owner closes a room for good after a confirmation, and it is gone for its members', async () => {
  await as(['anna', 'raj'], async (anna, raj) => {
    await createRoom(anna, 'Lost umbrellas');
    await anna.say('Two were found');
    await raj.joinRoom('Lost umbrellas');
    await anna.page.getByRole('button', { name: 'Actions for Lost umbrellas' }).last().click();
    await anna.page.getByRole('menuitem', { name: 'About this room' }).click();
    await anna.page.getByRole('button', { name: 'Settings' }).click();
    const close = anna.page.getByRole('button', { name: 'Close room' });
    await close.scrollIntoViewIfNeeded();
    await shot(anna.page, 'close-room-settings');
    await close.click();
    const dialog = anna.page.getByRole('alertdialog', { name: 'Close Lost umbrellas?' });
    await dialog.getByText('All members leave it').waitFor();
    await assertAccessible(anna.page, 'the question before a room is closed');
    await shot(anna.page, 'close-room');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await raj.say('One is mine');
    await close.click();
    await dialog.getByRole('button', { name: 'Close room' }).click();
    await raj.page.getByText('The room was closed.').first().waitFor();
    await shot(raj.page, 'closed-room');
    const isGone = async widget =>
      (await widget.page.locator('kith-widget .chat-row', { hasText: 'Lost umbrellas' }).count()) === 0;
    await anna.page.getByText('The room was closed.').first().waitFor();
    await shot(anna.page, 'closed-own-room');
    await until(async () => (await isGone(anna)) && (await isGone(raj)), 'the room is in no list');
  });
});

test('one sees who has seen a message in a small room, and to whom it was only delivered', async () => {
  await as(['ingrid', 'raj', 'yusuf'], async (ingrid, raj, yusuf) => {
    await createRoom(ingrid, 'Kite flyers');
    for (const one of [raj, yusuf]) await one.joinRoom('Kite flyers');
    await yusuf.back();
    await ingrid.say('Wind from the west');
    await raj.sees('Wind from the west');
    const sheet = ingrid.page.getByRole('dialog', { name: 'Seen by' });
    const looks = async () => {
      await message(ingrid, 'Wind from the west').click({ button: 'right' });
      await ingrid.page.getByRole('menuitem', { name: 'Seen by' }).click();
      await sheet.getByText('Members who hide').waitFor();
      const text = await sheet.locator('.sheet-body').innerText();
      return /Seen by · 1\s+\S*\s*Raj Patel\s+Delivered to · 1\s+\S*\s*Yusuf/.test(text);
    };
    await until(async () => {
      if (await looks()) return true;
      await sheet.getByRole('button', { name: 'Back' }).click();
      await sheet.waitFor({ state: 'hidden' });
      return false;
    }, 'one has seen it, one only has it');
    await assertAccessible(ingrid.page, 'who has seen a message');
    await sheet.getByRole('button', { name: 'Back' }).click();
    await message(raj, 'Wind from the west').click({ button: 'right' });
    await raj.page.getByRole('menuitem', { name: 'Copy text' }).waitFor();
    assert.equal(await raj.page.getByRole('menuitem', { name: 'Seen by' }).count(), 0, 'it is not his');
  });
});
