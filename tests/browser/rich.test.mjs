// Polls, forwarded messages, links to messages and threads, through a real server.

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

const as = (...asked) => asMembers(browser, kith, ...asked);
async function askPoll({ page }, question, choices, rules = []) {
  await page.getByRole('button', { name: 'Attach' }).click();
  await page.getByRole('menuitem', { name: 'Poll' }).click();
  await page.getByRole('textbox', { name: 'Question' }).fill(question);
  for (const [at, choice] of choices.entries()) {
    if (at > 1) await page.getByRole('button', { name: 'Add a choice' }).click();
    await page.getByRole('textbox', { name: `Choice ${at + 1}` }).fill(choice);
  }
  for (const rule of rules) await page.getByRole('checkbox', { name: rule }).check();
  await assertAccessible(page, 'asking a poll');
  await page.getByRole('button', { name: 'Post poll' }).click();
}

const choice = (widget, name) => widget.page.getByRole('button', { name, exact: true });

test('a poll is asked, voted in, and closed', async () => {
  await as(['anna', 'raj'], async (anna, raj) => {
    await anna.chatWith('Raj Patel');
    await raj.chatWith('Anna Lindqvist');
    await askPoll(anna, 'Where do we meet?', ['At the lake', 'In town', 'At home'], [/^Allow multiple/]);
    await raj.sees('Where do we meet?');
    await choice(raj, 'At the lake 0 % 0 votes').click();
    await choice(raj, 'At the lake 100 % 1 vote').waitFor();
    await choice(anna, 'At the lake 100 % 1 vote').waitFor();
    assert.equal(await choice(raj, 'At the lake 100 % 1 vote').getAttribute('aria-pressed'), 'true');
    assert.equal(await choice(anna, 'At the lake 100 % 1 vote').getAttribute('aria-pressed'), 'false');
    await choice(anna, 'In town 0 % 0 votes').click();
    await choice(raj, 'In town 50 % 1 vote').waitFor();
    // A member's own choice stays when another member votes, and after a reload.
    assert.equal(await choice(raj, 'At the lake 50 % 1 vote').getAttribute('aria-pressed'), 'true');
    await raj.page.reload();
    await raj.show();
    await raj.page
      .locator('kith-widget .chat-row', { hasText: 'Anna Lindqvist' })
      .locator('.row-main')
      .click();
    await choice(raj, 'At the lake 50 % 1 vote').waitFor();
    assert.equal(await choice(raj, 'At the lake 50 % 1 vote').getAttribute('aria-pressed'), 'true');
    await assertAccessible(raj.page, 'a poll');
    await choice(raj, 'At the lake 50 % 1 vote').click();
    await choice(anna, 'In town 100 % 1 vote').waitFor();

    await anna.act('Where do we meet?', 'Close poll');
    await anna.page.getByRole('alertdialog').getByRole('button', { name: 'Close poll' }).click();
    await raj.message('Where do we meet?').getByText('closed').waitFor();
    assert.equal(await choice(raj, 'In town 100 % 1 vote').getAttribute('aria-disabled'), 'true');
  });
});

test('a message is forwarded, and says whose it was', async () => {
  await as(['ingrid', 'raj', 'mei'], async (ingrid, raj, mei) => {
    await ingrid.chatWith('Raj Patel');
    await ingrid.say('The shed opens at ten');
    await raj.chatWith('Ingrid Haug');
    await raj.sees('The shed opens at ten');
    await raj.act('The shed opens at ten', 'Forward');
    const sheet = raj.page.getByRole('dialog', { name: 'Forward to' });
    await sheet.getByRole('textbox').fill('Mei');
    await sheet.getByRole('button', { name: /Mei/ }).first().waitFor();
    await assertAccessible(raj.page, 'forwarding');
    await sheet.getByRole('button', { name: /Mei/ }).first().click();
    await sheet.waitFor({ state: 'detached' });
    await mei.chatWith('Raj Patel');
    await mei.sees('The shed opens at ten');
    await mei
      .message('The shed opens at ten')
      .getByText(/Forwarded from .*Ingrid Haug/)
      .waitFor();
  });
});

test('a link leads to its message, and says so where one may not read it', async () => {
  await as(['anna', 'raj', 'mei'], async (anna, raj, mei, context) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await anna.chatWith('Raj Patel');
    await anna.say('Remember this one');
    await anna.message('Remember this one').locator('.state:not([data-state=sending])').waitFor();
    await anna.act('Remember this one', 'Copy link');
    let link = '';
    await until(async () => {
      link = await anna.page.evaluate(() => navigator.clipboard.readText());
      return link.includes('#kith=');
    }, 'the link is in the clipboard');
    const hash = new URL(link).hash;
    await raj.page.goto(`${kith.url}/as/raj/${hash}`);
    await raj.page.reload();
    await raj.sees('Remember this one');
    await mei.page.goto(`${kith.url}/as/mei/${hash}`);
    await mei.page.reload();
    await mei.page.getByRole('dialog', { name: 'Message not available' }).waitFor();
    await assertAccessible(mei.page, 'a link that leads nowhere');
    await mei.page.getByRole('button', { name: 'OK' }).click();
  });
});

/** Creates a room of Anna with a message and with Raj as a member. */
async function lakes(anna, raj, name) {
  await anna.createRoom(name);
  await anna.say('A new lake?');
  await raj.joinRoom(name);
  await raj.sees('A new lake?');
}

test('a thread hangs below a message of a room', async () => {
  await as(['anna', 'raj'], async (anna, raj) => {
    await lakes(anna, raj, 'Lakes');
    await raj.act('A new lake?', 'Reply in thread');
    const field = widget => widget.page.getByRole('textbox', { name: 'Reply in thread' });
    await field(raj).fill('Where is it?');
    await field(raj).press('Enter');
    await raj.sees('Where is it?');
    await assertAccessible(raj.page, 'a thread');
    const replies = anna.message('A new lake?').getByRole('button', { name: /1 reply/ });
    await replies.waitFor();
    assert.ok(!(await anna.texts()).includes('Where is it?'), 'a reply stands in its thread only');
    await replies.click();
    await anna.sees('Where is it?');
    await field(anna).fill('Behind the hill');
    await field(anna).press('Enter');
    await raj.sees('Behind the hill');
    await raj.page.getByText('2 replies').waitFor();
    await raj.page.getByRole('button', { name: 'Back to room' }).click();
    await raj
      .message('A new lake?')
      .getByRole('button', { name: /2 replies/ })
      .waitFor();
  });
});

test('in a thread one writes as in a chat: a file, a draft, suggestions, an answer', async () => {
  await as(
    ['anna', 'raj'],
    async (anna, raj) => {
      await lakes(anna, raj, 'Rivers');
      await raj.say('A draft of the room');
      await raj.sees('A draft of the room');
      await raj.field.fill('half a message');
      await raj.act('A new lake?', 'Reply in thread');
      const back = () => raj.page.getByRole('button', { name: 'Back to room' }).click();
      const field = raj.page.getByRole('textbox', { name: 'Reply in thread' });
      const value = text => until(async () => (await field.inputValue()) === text, `the field has "${text}"`);
      await value('');

      // The draft belongs to the thread only, and survives a reload.
      await field.fill('half a reply');
      await back();
      await until(async () => (await raj.field.inputValue()) === 'half a message', 'the draft of the room');
      await raj.page.reload();
      await raj.message('A new lake?').waitFor();
      await raj.act('A new lake?', 'Reply in thread');
      await value('half a reply');

      await field.fill(':wav');
      await raj.page.getByRole('option').first().waitFor();
      await field.press('Enter');
      await until(async () => !/:wav|^$/.test(await field.inputValue()), 'an emoji is suggested');
      await field.fill('@ann');
      await raj.page.getByRole('option', { name: /Anna/ }).click();
      await until(async () => (await field.inputValue()).startsWith('@anna '), 'a member is suggested');

      await raj.page.locator('kith-widget input[type=file]').setInputFiles({
        name: 'map.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('left, then right'),
      });
      await raj.page.locator('kith-widget .attach-item[data-state="done"]').waitFor();
      // The menu offers no poll in a thread, because the server refuses it.
      await raj.page.getByRole('button', { name: 'Attach' }).click();
      await raj.page.getByRole('menuitem', { name: 'File' }).waitFor();
      assert.equal(await raj.page.getByRole('menuitem', { name: 'Poll' }).count(), 0);
      await raj.page.keyboard.press('Escape');
      await assertAccessible(raj.page, 'a file in a thread');
      await field.fill('The way there');
      await field.press('Enter');
      await raj.becomes('The way there', 'sent');

      await anna
        .message('A new lake?')
        .getByRole('button', { name: /1 reply/ })
        .click();
      await anna.sees('The way there');
      await anna.page.locator('kith-widget [data-message]', { hasText: 'map.txt' }).waitFor();
      await anna.act('The way there', 'Reply');
      const answer = anna.page.getByRole('textbox', { name: 'Reply in thread' });
      await answer.fill('Thank you');
      await answer.press('Enter');
      await raj.sees('Thank you');
      await raj.message('Thank you').locator('.quote', { hasText: 'The way there' }).waitFor();
      await raj.act('map.txt', 'Edit');
      await raj.page.getByRole('textbox', { name: 'Edit message' }).fill('The way back');
      await raj.page.getByRole('button', { name: 'Save' }).click();
      await anna.sees('The way back');
      await back();
      await until(async () => (await raj.field.inputValue()) === 'half a message', 'the room has its draft');
      assert.ok(!(await raj.texts()).includes('Thank you'), 'replies stand in their thread only');
    },
    { reopens: true },
  );
});

test('a reply leaves a reader of the thread in place, and is counted', async () => {
  await as(['anna', 'raj'], async (anna, raj) => {
    await lakes(anna, raj, 'Ponds');
    await raj.act('A new lake?', 'Reply in thread');
    const field = widget => widget.page.getByRole('textbox', { name: 'Reply in thread' });
    // Send more replies than one page has, faster than the server's rate limit.
    for (let at = 1; at <= 18; at++) {
      await field(raj).fill(`Reply ${at}`);
      await field(raj).press('Enter');
    }
    await raj.becomes('Reply 18', 'sent');
    await anna
      .message('A new lake?')
      .getByRole('button', { name: /18 replies/ })
      .click();
    await anna.sees('Reply 18');
    const scroller = anna.page.locator('kith-widget .history-scroller');
    const atEnd = () => scroller.evaluate(one => one.scrollHeight - one.scrollTop - one.clientHeight < 60);
    await until(atEnd, 'a thread is opened at its end');

    await scroller.evaluate(one => one.scrollTo(0, 0));
    await anna.page.getByRole('button', { name: 'Jump to newest' }).waitFor();
    const top = () => anna.message('Reply 1').evaluate(one => Math.round(one.getBoundingClientRect().top));
    const before = await top();
    await field(raj).fill('One more');
    await field(raj).press('Enter');
    const jump = anna.page.getByRole('button', { name: 'Jump to newest, 1 new message' });
    await jump.waitFor();
    assert.equal(await top(), before, 'the reader stays where they are');
    await jump.click();
    await until(atEnd, 'the newest reply is shown');
    await anna.sees('One more');
    // If the reader is at the end, the thread scrolls to the new reply.
    await field(raj).fill('And one');
    await field(raj).press('Enter');
    await anna.sees('And one');
    await until(atEnd, 'the list follows at its end');
  });
});

test('on a phone a poll and a thread fit', async () => {
  await as(
    ['tom'],
    async tom => {
      await tom.chatWith('Raj Patel');
      await askPoll(tom, 'Shall we?', [
        'Yes, as soon as the weather allows it and everybody has come back',
        'No',
      ]);
      await tom.sees('Shall we?');
      await assertAccessible(tom.page, 'a poll on a phone');
      const wide = await tom.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(wide, false);
    },
    { ...PHONE },
  );
});
