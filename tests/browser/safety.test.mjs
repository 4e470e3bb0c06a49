// Moderation of a site through a real server: a stranger's request, reports, warnings, mutes, bans, blocks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, shot, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { asMembers } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  await kith.setSite('demo', 'requests.on=true');
  await kith.command('user', 'role', '--site', 'demo', 'mei', 'moderator');
});
after(async () => {
  await browser.close();
  await kith.stop();
});

const as = (...asked) => asMembers(browser, kith, ...asked);

async function openModeration(widget) {
  await widget.tab('Me').click();
  await widget.page.getByRole('button', { name: /^Moderation/ }).click();
  return widget.page.getByRole('dialog', { name: 'Moderation' });
}

async function openRequest(widget, name) {
  await widget.tab('Chats').click();
  await widget.page.getByRole('radio', { name: /^Requests/ }).click();
  await widget.page.locator('kith-widget .chat-row', { hasText: name }).locator('.row-main').click();
}

test("a stranger's request waits without a sound, and is accepted", async () => {
  await as(['hamish', 'jonas'], async (hamish, jonas) => {
    await hamish.chatWith('Jonas');
    await hamish.say('Hello, is this about the shed?');
    await hamish.page.getByText(/has not accepted yet/).waitFor();
    await hamish.say('see evil.com');
    await hamish.page
      .locator('kith-widget [data-message]', { hasText: 'evil.com' })
      .getByText(/link/i)
      .waitFor();
    await openRequest(jonas, 'Hamish');
    await jonas.page.getByRole('button', { name: 'Accept' }).waitFor();
    await assertAccessible(jonas.page, 'a request');
    await jonas.page.getByRole('button', { name: 'Accept' }).click();
    await jonas.page.getByRole('button', { name: 'Accept' }).waitFor({ state: 'detached' });
    await jonas.say('Yes, it is.');
    await hamish.sees('Yes, it is.');
    await until(
      async () => (await hamish.page.getByText(/has not accepted yet/).count()) === 0,
      'they are known',
    );
  });
});

test('after a report with a block the chat shows one state: blocked', async () => {
  await as(['raj', 'yusuf'], async (raj, yusuf) => {
    await raj.chatWith('Yusuf');
    await raj.say('Buy my coins');
    await openRequest(yusuf, 'Raj');
    await yusuf.page.getByRole('button', { name: 'Report' }).click();
    const form = yusuf.page.getByRole('dialog', { name: 'Report this message' });
    await form.getByRole('radio').first().check();
    await form.getByRole('checkbox', { name: /^Also block/ }).check();
    await form.getByRole('button', { name: 'Send report' }).click();
    await form.waitFor({ state: 'detached' });
    await yusuf.page.getByRole('button', { name: 'Unblock' }).waitFor();
    assert.equal(await yusuf.page.locator('kith-widget .stranger').count(), 1);
    assert.equal(await yusuf.page.getByRole('button', { name: 'Accept' }).count(), 0);
    assert.equal(await yusuf.field.count(), 0);
  });
});

test('a report, a moderator, a ban', async () => {
  await as(['piotr', 'amara', 'mei'], async (piotr, amara, mei) => {
    await piotr.chatWith('Amara');
    await piotr.say('You fool');
    await openRequest(amara, 'Piotr');
    await amara.page.getByRole('button', { name: 'Report' }).click();
    const form = amara.page.getByRole('dialog', { name: 'Report this message' });
    await form.waitFor();
    await assertAccessible(amara.page, 'a report');
    await form.getByRole('radio', { name: 'Insults or harassment' }).check();
    await form.getByRole('textbox').fill('He insults me');
    await form.getByRole('button', { name: 'Send report' }).click();
    await form.waitFor({ state: 'detached' });
    await amara.page.getByRole('button', { name: 'Delete' }).first().click();
    await until(
      async () => (await amara.page.getByRole('radio', { name: /^Requests/ }).count()) === 0,
      'it is gone',
    );

    const queue = await openModeration(mei);
    const card = queue.locator('.report', { hasText: 'Piotr' });
    await card.getByText('He insults me').waitFor();
    await card.locator('.is-reported', { hasText: 'You fool' }).waitFor();
    await assertAccessible(mei.page, "the moderators' queue");
    await card.getByRole('button', { name: 'Delete message' }).click();
    await card.getByRole('button', { name: /^Take action on Piotr/ }).click();
    await card.getByRole('combobox').first().selectOption('ban');
    await card.getByRole('combobox').last().selectOption('24');
    await card.getByRole('textbox').fill('Insults');
    await assertAccessible(mei.page, 'an act of a moderator');
    await card.getByRole('button', { name: 'Apply' }).click();
    await piotr.page.locator('kith-widget .banner', { hasText: 'Insults' }).waitFor();
    await assertAccessible(piotr.page, 'a ban');
    await card.getByRole('button', { name: 'Assign to me' }).click();
    await card.waitFor({ state: 'detached' });
    await queue.getByRole('radio', { name: 'In progress' }).click();
    await queue.locator('.report', { hasText: 'Piotr' }).getByRole('button', { name: 'Close' }).click();
    await queue.locator('.report-act').getByRole('textbox').fill('Banned for a day');
    await queue.locator('.report-act').getByRole('button', { name: 'Close' }).click();
    await queue.getByRole('radio', { name: 'Log' }).click();
    await queue
      .getByText(/banned/)
      .first()
      .waitFor();
    await assertAccessible(mei.page, 'the record');
    await mei.page.keyboard.press('Escape');
    await queue.waitFor({ state: 'detached' });
  });
});

test('a warning and a mute are told, on a phone too', async () => {
  await as(
    ['chloe'],
    async chloe => {
      await as(['mei'], async mei => {
        await mei.chatWith('Chlo');
        const token = await kith.command('token', '--site', 'demo', '--user', 'test', '--role', 'service');
        const act = async body => {
          const answer = await fetch(`${kith.url}/v1/sites/demo/moderate`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}` },
            body: JSON.stringify(body),
          });
          assert.equal(answer.status, 200);
        };
        await act({ act: 'warn', user: 'chloe', reason: 'Please be kind' });
        await chloe.page.getByText('Please be kind').waitFor();
        await assertAccessible(chloe.page, 'a warning');
        await chloe.page.getByRole('button', { name: 'OK' }).click();
        await chloe.page.getByText('Please be kind').waitFor({ state: 'detached' });
        await act({ act: 'mute', user: 'chloe', until: Date.now() + 3_600_000, reason: 'Enough' });
        await chloe.page.getByText(/muted you until/).waitFor();
        await assertAccessible(chloe.page, 'a mute');
        await act({ act: 'unmute', user: 'chloe' });
        await chloe.page.getByText(/muted you until/).waitFor({ state: 'detached' });
      });
    },
    PHONE,
  );
});

/** Creates private rooms of a member and adds others, with the client. Users who are no contacts get a room request. */
const invite = (widget, names, users) =>
  widget.page.evaluate(
    async ([names, users]) => {
      const client = await globalThis.Kith.client();
      for (const name of names) {
        const key = await client.createRoom({ name, kind: 'private' });
        for (const user of users) await client.changeMember(key, user, 'invite');
      }
    },
    [names, users],
  );

const row = (widget, name) =>
  widget.page.locator('kith-widget .chat-row', { hasText: name }).locator('.row-main');

test('a room request is accepted, declined, or answered with a block', async () => {
  await as(['chloe', 'sofia'], async (chloe, sofia) => {
    await invite(chloe, ['Seed swap', 'Night shift', 'Trap'], ['sofia']);
    await openRequest(sofia, 'Seed swap');
    const bar = sofia.page.locator('kith-widget .stranger');
    await bar.getByText(/invites you to “.?Seed swap/).waitFor();
    await assertAccessible(sofia.page, 'a room request');
    await bar.getByRole('button', { name: 'Accept' }).click();
    await sofia.field.waitFor();
    await sofia.say('Thank you');
    await sofia.back();

    await openRequest(sofia, 'Night shift');
    await bar.getByRole('button', { name: 'Decline' }).click();
    await row(sofia, 'Night shift').waitFor({ state: 'detached' });

    await sofia.tab('Chats').click();
    await openRequest(sofia, 'Trap');
    await bar.getByRole('button', { name: 'Block' }).click();
    const dialog = sofia.page.getByRole('alertdialog');
    await dialog.getByText(/You leave private rooms that only they own/).waitFor();
    await assertAccessible(sofia.page, 'the question before a block');
    await dialog.getByRole('button', { name: 'Block' }).click();
    await row(sofia, 'Trap').waitFor({ state: 'detached' });
    await until(async () => (await row(sofia, 'Seed swap').count()) === 0, 'she has left his room');
  });
});

test("a blocked member's messages in a room are collapsed until they are asked for", async () => {
  await as(['ingrid', 'tom'], async (ingrid, tom) => {
    const open = async widget => {
      await widget.page.evaluate(() => globalThis.Kith.openRoom('/orchard'));
      await widget.field.waitFor();
    };
    await open(ingrid);
    await ingrid.say('Who prunes on Saturday?');
    await ingrid.sees('Who prunes on Saturday?');
    await ingrid.page.evaluate(() =>
      globalThis.Kith.client().then(client => client.changeContact('block', 'tom')),
    );
    await open(tom);
    await tom.say('Words that nobody asked for');
    const collapsed = ingrid.page.getByText('Message from somebody you blocked').last();
    await collapsed.waitFor();
    assert.equal(
      await ingrid.page.locator('kith-widget [data-message]', { hasText: 'Words that' }).count(),
      0,
    );
    await assertAccessible(ingrid.page, 'a collapsed message');
    await ingrid.page.getByRole('button', { name: 'Show message' }).last().click();
    await ingrid.message('Words that').waitFor();
    await ingrid.page.evaluate(() =>
      globalThis.Kith.client().then(client => client.changeContact('unblock', 'tom')),
    );
    await collapsed.waitFor({ state: 'detached' });
  });
});

test("a blocked member's words are in no unread count, search or pin of the blocker", async () => {
  await as(['ingrid', 'tom'], async (ingrid, tom) => {
    const key = await tom.page.evaluate(async () => {
      const client = await globalThis.Kith.client();
      return client.createRoom({ name: 'Pruning', kind: 'public' });
    });
    await ingrid.page.evaluate(async room => {
      const client = await globalThis.Kith.client();
      await client.join(room);
      await client.changeContact('block', 'tom');
    }, key);
    await tom.page.evaluate(async room => {
      const client = await globalThis.Kith.client();
      client.send(room, 'Loppers and words');
    }, key);
    const seen = () =>
      ingrid.page.evaluate(async room => {
        const { unread, last } = (await globalThis.Kith.client()).conversation(room);
        return { unread, last: last?.body };
      }, key);
    await until(async () => (await seen()).last === 'Loppers and words', 'it has arrived');
    assert.equal((await seen()).unread, 0);
    await tom.page.evaluate(async room => (await globalThis.Kith.client()).pin(room, 1, true), key);
    await ingrid.page.reload();
    await ingrid.show();
    await until(async () => (await seen()).last === 'Loppers and words', 'it is here again');
    assert.equal((await seen()).unread, 0, 'the server counts alike');
    await ingrid.tab('Chats').click();
    await row(ingrid, 'Pruning').click();
    const pin = ingrid.page.locator('kith-widget .pin-text');
    await pin.filter({ hasText: /^…$/ }).waitFor();
    await shot(ingrid.page, 'blocked-pin');
    const found = widget =>
      widget.page.evaluate(
        async () => (await (await globalThis.Kith.client()).search('loppers')).hits.length,
      );
    await until(async () => (await found(tom)) === 1, 'it is indexed');
    assert.equal(await found(ingrid), 0);
    await ingrid.page.evaluate(async () => (await globalThis.Kith.client()).changeContact('unblock', 'tom'));
    await pin.filter({ hasText: 'Loppers and words' }).waitFor();
    assert.equal(await found(ingrid), 1);
  });
});
