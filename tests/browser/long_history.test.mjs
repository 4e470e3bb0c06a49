// Jumps, searches and scrolling for a member with 20,000 messages in a room, 8,000 contacts and 500 conversations.

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
  browser = await launch();
  history = await longHistory(what);
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
  const asked = [];
  page.on('websocket', socket => socket.on('framesent', ({ payload }) => asked.push(JSON.parse(payload))));
  // With this timeout, a frozen page fails here and not at the timeout of the whole file.
  page.setDefaultTimeout(15_000);
  await page.goto(`${host.origin}/?as=ana`);
  const widget = new Widget(page);
  await widget.show();
  await run(widget, page, what => asked.filter(one => one.t === what));
  assertNoTrouble(context);
  await context.close();
}

async function openRoom(widget, name) {
  await widget.page.locator('kith-widget .chat-row .row-main', { hasText: name }).first().click();
  await widget.field.waitFor();
}

/** Is the message with this number in the visible part of the chat? */
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
      // The server has the read marker too.
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

/** Starts a timer in the page. Returns a function for its longest delay in milliseconds. */
async function heartbeat(page) {
  await page.evaluate(() => {
    let last = performance.now();
    globalThis.longestWait = 0;
    setInterval(() => {
      const now = performance.now();
      globalThis.longestWait = Math.max(globalThis.longestWait, now - last);
      last = now;
    }, 20);
  });
  return () => page.evaluate(() => Math.round(globalThis.longestWait));
}
/** The limit for a delay of the timer. A frozen page stops for much longer, also on a busy machine. */
const FROZEN_MS = 3_000;

/** Turns the wheel over an element until `done`. Time is the bound: a busy machine loads less between two turns. */
async function wheel(page, selector, by, done) {
  const box = await page.locator(selector).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const end = Date.now() + 60_000;
  for (let turn = 0; Date.now() < end; turn++) {
    await page.mouse.wheel(0, by);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    if (turn % 5 === 4 && (await done())) return;
  }
  assert.fail('not done after a minute of turning the wheel');
}

const rowsOf = page =>
  page
    .locator('kith-widget .virtual-list-row')
    .first()
    .evaluate(one => Number(one.getAttribute('aria-setsize')));

test('scrolling up through pages of messages and down again never stops the page, and asks for each page once', () =>
  asOwner(async (widget, page, asked) => {
    await openRoom(widget, '/big');
    await comesIntoView(page, BIG);
    const wait = await heartbeat(page);
    const log = 'kith-widget .history-scroller';
    const first = async () =>
      Number(
        (await page.locator('kith-widget [data-message] .body-text').first().textContent()).match(
          /n(\d+)/,
        )[1],
      );
    await wheel(page, log, -700, async () => (await first()) < BIG - 400);
    const pages = asked('history').length;
    assert.ok(pages <= 20, `${pages} pages for some 400 messages`);
    await wheel(page, log, 900, () => isInView(page, BIG));
    const loaded = asked('history').map(({ rid, ...page }) => JSON.stringify(page));
    assert.equal(new Set(loaded).size, loaded.length, `nothing is loaded twice: ${loaded.join(' ')}`);
    assert.ok((await page.locator('kith-widget [data-message]').count()) < 200);
    assert.ok((await wait()) < FROZEN_MS, `${await wait()} ms without a timer`);
  }));

test('500 conversations and 8,000 contacts are scrolled to their ends, and searched', () =>
  asOwner(async (widget, page, asked) => {
    const wait = await heartbeat(page);
    const list = 'kith-widget .virtual-list';
    const all = CONVERSATIONS + 3;
    await wheel(page, list, 4_000, async () => (await rowsOf(page)) === all);
    assert.ok((await page.locator('kith-widget .chat-row').count()) < 60);
    await widget.tab('Contacts').click();
    const heading = page.locator('kith-widget .section-title', { hasText: 'Your contacts' });
    await heading.waitFor();
    assert.match(await heading.textContent(), /[\d,]+\+$/);
    await page.getByRole('textbox', { name: 'Search people' }).fill('Contact 7998');
    await page.locator('kith-widget .person-row', { hasText: 'Contact 7998' }).waitFor();
    await page.getByRole('textbox', { name: 'Search people' }).fill('');
    await heading.waitFor();
    const before = asked('contacts').length;
    await wheel(page, list, 60_000, async () => (await rowsOf(page)) >= CONTACTS);
    assert.ok(
      asked('contacts').length - before <= CONTACTS / 50,
      `${asked('contacts').length - before} pages`,
    );
    await page.locator(list).evaluate(one => one.scrollTo(0, 0));
    await until(async () => (await heading.textContent()).endsWith('8,000'), 'the heading counts all');
    assert.ok((await wait()) < FROZEN_MS, `${await wait()} ms without a timer`);
  }));
