// The bar shows chats side by side at the bottom of the page. Tested with a fake client.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertNoTrouble,
  DESKTOP,
  launch,
  PHONE,
  person,
  settled,
  shot,
  until,
  untilIn,
} from './browser.mjs';
import { fixture } from './fixture.mjs';

let browser;
let site;
before(async () => {
  [browser, site] = await Promise.all([launch(), fixture()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

const CALM = { ...DESKTOP, reducedMotion: 'reduce' };

async function on(settings, options, run) {
  const context = await person(browser, options);
  const page = await context.newPage();
  await page.goto(site.url({ mode: 'bar', closed: 1, ...settings }));
  await untilIn(page, () => globalThis.app !== undefined, 'the interface is there');
  await run(page);
  assertNoTrouble(context);
  await context.close();
}

const strip = page => page.locator('.bar-strip');
const names = async page => {
  const places = await page
    .locator('.window')
    .evaluateAll(all => all.map(one => ({ chat: one.dataset.chat, x: one.getBoundingClientRect().x })));
  return places.sort((a, b) => b.x - a.x).map(one => one.chat);
};
const heads = page => page.locator('.bar-head');
const openChats = async (page, ...users) => {
  await strip(page).waitFor();
  for (const user of users) {
    await page.evaluate(one => globalThis.app.open(one), user);
    await page.locator(`.window[data-chat="@${user}"] .composer-field`).waitFor();
  }
};
const focused = page =>
  page.evaluate(() => {
    const { activeElement: one } = document.querySelector('kith-widget').shadowRoot;
    return (
      one?.closest('.window')?.dataset.chat ?? one?.closest('.bar-strip, .panel')?.className.split(' ')[0]
    );
  });

test('as many windows as there is room for stand side by side, the others are heads with a badge', () =>
  on({}, CALM, async page => {
    await openChats(page, 'u1', 'u2', 'u3');
    assert.deepEqual(await names(page), ['@u3', '@u2']);
    assert.equal(await heads(page).count(), 1);
    await page.evaluate(() => globalThis.client.arrive('u1', 'Hello?'));
    await heads(page).locator('.badge').waitFor();
    assert.match(await heads(page).textContent(), /1 unread message/);

    const boxes = await page
      .locator('.window')
      .evaluateAll(all => all.map(one => one.getBoundingClientRect().toJSON()));
    for (const box of boxes) assert.equal(Math.round(box.width), 328);
    assert.ok(Math.abs(boxes[0].x - boxes[1].x) >= 328, 'they do not overlap');

    await heads(page).click();
    await until(
      async () => (await names(page)).join() === '@u1,@u3',
      'the head is a window, the oldest window a head',
    );
    assert.equal(await page.locator('.window[data-chat="@u1"] textarea').inputValue(), '');
    await page.setViewportSize({ width: 1760, height: 800 });
    await until(async () => (await names(page)).length === 3, 'a wider page has room for the third');
  }));

test('open windows are open on the next page, and the focus stays on the page', () =>
  on({}, CALM, async page => {
    await openChats(page, 'u1', 'u2');
    await page.locator('.window[data-chat="@u1"]').getByRole('button', { name: 'Minimize' }).click();
    assert.equal(await focused(page), '@u2');
    await page.locator('.window[data-chat="@u2"] textarea').fill('half a sent');
    await page.reload();
    await page.locator('.window[data-chat="@u2"] .composer-field').waitFor();
    assert.deepEqual([await names(page), await heads(page).count()], [['@u2'], 1]);
    assert.equal(await focused(page), undefined);
    await page.locator('.window').getByRole('button', { name: 'Close' }).click();
    await heads(page).focus();
    await page.keyboard.press('Delete');
    await page.reload();
    await strip(page).waitFor();
    assert.deepEqual([await names(page), await heads(page).count()], [[], 0]);
    assert.equal(await page.evaluate(() => localStorage.getItem('kith:dev:bar')), null);
  }));

test('the panel opens from the bar, and its chats open as windows beside it', () =>
  on({}, CALM, async page => {
    await strip(page)
      .getByRole('button', { name: /^Chats/ })
      .click();
    await page.locator('.panel:not(.window) .chat-row').first().waitFor();
    await page.locator('.panel:not(.window) .row-main').first().click();
    await page.locator('.window .composer-field').waitFor();
    const [panel, window] = await page
      .locator('.panel:not(.window), .window')
      .evaluateAll(all => all.map(one => one.getBoundingClientRect().toJSON()));
    assert.ok(window.right <= panel.left, 'beside it');
    assert.equal(await page.locator('#launcher').isVisible(), false);
    await page.locator('.panel:not(.window)').getByRole('tab', { name: 'Chats' }).focus();
    await page.keyboard.press('Escape');
    await page.locator('.panel:not(.window)').waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'bar-strip');
  }));

test('F6 goes round page, windows and bar; Escape closes a window and leads to the next', () =>
  on({}, CALM, async page => {
    await openChats(page, 'u1', 'u2');
    await page.evaluate(() => document.querySelector('kith-widget').shadowRoot.activeElement?.blur());
    const went = [];
    for (let step = 0; step < 4; step++) {
      await page.keyboard.press('F6');
      went.push(await focused(page));
    }
    assert.deepEqual(went, ['@u2', '@u1', 'bar-strip', undefined]);
    await page.keyboard.press('F6');
    await page.keyboard.press('Escape');
    assert.deepEqual([await names(page), await focused(page)], [['@u1'], '@u1']);
    await page.keyboard.press('Escape');
    assert.deepEqual([await names(page), await focused(page)], [[], 'bar-strip']);
  }));

test('a menu and a question lie over their own window', () =>
  on({}, CALM, async page => {
    await openChats(page, 'u1', 'u2');
    const window = page.locator('.window[data-chat="@u1"]');
    await window
      .getByRole('button', { name: /^Actions for/ })
      .last()
      .click();
    await window.getByRole('menuitem').first().waitFor();
    assert.equal(await page.locator('.window[data-chat="@u2"] [role=menu]').count(), 0);
    await page.keyboard.press('Escape');
    assert.deepEqual((await names(page)).length, 2, 'the window stays');
  }));

test('a chat stays in its place when the other one goes by another id', () =>
  on({}, CALM, async page => {
    await openChats(page, 'u1', 'u2', 'u3');
    assert.deepEqual([await names(page), await heads(page).count()], [['@u3', '@u2'], 1]);
    await page.locator('.window[data-chat="@u2"] textarea').fill('half a sent');
    for (const user of ['u2', 'u1'])
      await page.evaluate(one => globalThis.client.rename(one, `${one}-new`), user);
    await until(async () => (await names(page)).join() === '@u3,@u2-new', 'the same two windows');
    assert.equal(await focused(page), '@u2-new', 'who writes goes on writing');
    assert.equal(await page.locator('.window[data-chat="@u2-new"] textarea').inputValue(), 'half a sent');
    await heads(page).click();
    await until(async () => (await names(page)).join() === '@u1-new,@u3', 'a head opens one window');
    assert.equal(await heads(page).count(), 1);
  }));

test('a phone and a narrow window have the bubble', async () => {
  await on({ open: 'u1' }, PHONE, async page => {
    await page.locator('.phone .panel').waitFor();
    assert.equal(await strip(page).count(), 0);
  });
  await on({ open: 'u1' }, { viewport: { width: 1000, height: 700 } }, async page => {
    await page.locator('.corner .panel .composer-field').waitFor();
    assert.equal(await strip(page).count(), 0);
    await page.setViewportSize({ width: 1280, height: 700 });
    await page.locator('.window[data-chat="@u1"]').waitFor();
  });
});

test('a member goes from the bubble to the bar, to the full page, and back', () =>
  on({ mode: 'bubble' }, CALM, async page => {
    await page.evaluate(() => globalThis.app.show());
    await page.locator('#tab-me').click();
    await page.getByRole('radio', { name: 'Side by side' }).click();
    await strip(page).waitFor();
    await page.getByRole('button', { name: 'Open as full page' }).click();
    await strip(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Back to the corner' }).last().click();
    await strip(page).waitFor();
    await page.reload();
    await strip(page).waitFor();
    await strip(page).locator('.bar-me').click();
    await page.getByRole('radio', { name: 'One at a time' }).click();
    await strip(page).waitFor({ state: 'detached' });
    assert.equal(await page.locator('#launcher').isVisible(), true);
  }));

for (const [look, settings] of Object.entries({
  light: { theme: 'light' },
  dark: { theme: 'dark' },
  'from right to left': { theme: 'light', lang: 'ar', position: 'left' },
})) {
  test(`axe finds nothing: ${look}`, () =>
    on(settings, CALM, async page => {
      await openChats(page, 'u1', 'u2', 'u3');
      await page.evaluate(() => globalThis.client.arrive('u1', 'Hello?'));
      await heads(page).locator('.badge').waitFor();
      await assertAccessible(page, `the bar, ${look}`);
      await page.locator('.bar-chats').click();
      await page.locator('.chat-row').first().waitFor();
      await page.evaluate(settled);
      await assertAccessible(page, `the bar beside the panel, ${look}`);
      await shot(page, `bar-${look.replaceAll(' ', '-')}`);
    }));
}
