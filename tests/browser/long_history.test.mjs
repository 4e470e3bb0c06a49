// A member with 20,000 messages in a room, 8,000 contacts and 500 conversations: every jump, search and scroll.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoTrouble, DESKTOP, launch, person, until } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { longHistory, SITE, textOf } from './long_history.mjs';
import { Widget } from './widget.mjs';

const BIG = 20_000;
const MID = 300;
const CONTACTS = 8_000;
const CONVERSATIONS = 500;

let browser;
let history;
let host;
before(async () => {
  const rooms = { '/big': BIG, '/mid': MID, '/few': 30 };
  const what = { owner: 'ana', contacts: CONTACTS, conversations: CONVERSATIONS, rooms };
  [browser, history] = await Promise.all([launch(), longHistory(what)]);
  host = await hostPage(history.kith, SITE);
});
after(async () => {
  await browser?.close();
  await host?.close();
  await history?.kith.stop();
});

async function asOwner(run) {
  const context = await person(browser, DESKTOP);
  const page = await context.newPage();
  // A page that freezes fails here, and not after the time of the whole file.
  page.setDefaultTimeout(15_000);
  await page.goto(`${host.origin}/?as=ana`);
  const widget = new Widget(page);
  await widget.show();
  await run(widget, page);
  assertNoTrouble(context);
  await context.close();
}

async function openRoom(widget, name) {
  await widget.page.locator('kith-widget .chat-row .row-main', { hasText: name }).first().click();
  await widget.field.waitFor();
}

/** Is a message of the room with this number on the screen, in the part that one sees? */
const isInView = (page, number) =>
  page.evaluate(text => {
    const root = document.querySelector('kith-widget').shadowRoot;
    const frame = root.querySelector('.history-scroller').getBoundingClientRect();
    const found = Array.from(root.querySelectorAll('[data-message]')).find(
      one => one.querySelector('.body-text')?.textContent === text,
    );
    const box = found?.getBoundingClientRect();
    return box !== undefined && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
  }, textOf(number));

const comesIntoView = (page, number) => until(() => isInView(page, number), `message ${number} is in view`);

test('a room opens at the line of the unread messages, and does not tell those below as read', () =>
  asOwner(async (widget, page) => {
    await openRoom(widget, '/few');
    await page.locator('kith-widget .unread-line').waitFor();
    await comesIntoView(page, 2);
    assert.equal(await isInView(page, 30), false);
    await widget.back();
    const row = page.locator('kith-widget .chat-row', { hasText: '/few' });
    const left = await row.locator('.badge .hidden-text').textContent();
    assert.match(left, /^(1\d|2[0-7]) unread messages$/);
  }));

for (const [room, count] of [
  ['/mid', MID],
  ['/big', BIG],
]) {
  test(`with ${count} unread messages the room opens at the first, and only what was seen is read`, () =>
    asOwner(async (widget, page) => {
      const bar = page.getByRole('button', { name: /^\d+ unread messages/ });
      const left = () =>
        page.locator('kith-widget .chat-row', { hasText: room }).locator('.badge .hidden-text');
      await openRoom(widget, room);
      await page.locator('kith-widget .unread-line').waitFor();
      await comesIntoView(page, 2);
      await page.getByRole('button', { name: /^Jump to newest, \d+ new messages/ }).click();
      await comesIntoView(page, count);
      await bar.waitFor();
      await widget.back();
      assert.ok(Number.parseInt(await left().textContent(), 10) > count - 60, await left().textContent());
      await openRoom(widget, room);
      await page.locator('kith-widget .unread-line').waitFor();
      assert.equal(await isInView(page, count), false);
      await page.getByRole('button', { name: /^Jump to newest/ }).click();
      await bar.click();
      await page.locator('kith-widget .unread-line').waitFor();
      await bar.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /^Jump to newest/ }).click();
      await page.getByRole('button', { name: 'Mark all as read' }).click();
      await bar.waitFor({ state: 'detached' });
      await widget.back();
      assert.equal(await left().count(), 0);
      // The server has it too.
      const isRead = async () => {
        let badges;
        await asOwner(async (_, fresh) => {
          const row = fresh.locator('kith-widget .chat-row', { hasText: room });
          await row.waitFor();
          badges = await row.locator('.badge').count();
        });
        return badges === 0;
      };
      await until(isRead, `${room} is read`);
    }));
}

for (const [room, count, wanted] of [
  ['/mid', MID, 20],
  ['/big', BIG, 7_001],
]) {
  test(`in ${count} messages a search result, and the original of a reply, come into view`, () =>
    asOwner(async (widget, page) => {
      await openRoom(widget, room);
      await comesIntoView(page, count);
      await page.getByRole('button', { name: `Actions for ${room}` }).click();
      await page.getByRole('menuitem', { name: 'Search in this chat' }).click();
      await page.getByRole('combobox').fill(`n${wanted} `);
      await page.getByRole('option').first().click();
      await comesIntoView(page, wanted);
      await page.getByRole('button', { name: /^Jump to newest/ }).click();
      await comesIntoView(page, count);
      await page.locator('kith-widget [data-message]', { hasText: textOf(count) }).press('Enter');
      await page.getByRole('menuitem', { name: 'Show the original' }).click();
      await comesIntoView(page, 1);
    }));
}
