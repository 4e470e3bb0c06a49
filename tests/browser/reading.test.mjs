// For those who read otherwise: 400 % zoom, forced colours, no motion, large type; on a fake client.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoTrouble, launch, person } from './browser.mjs';
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

const SCREENS = [
  { open: 'u2', lang: 'ar' },
  { open: 'u2', lang: 'de' },
  { rooms: 6, room: 'r0', lang: 'ru' },
];

async function on(settings, options, run) {
  const context = await person(browser, { reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(site.url(settings));
  await page.locator('.panel').waitFor();
  await run(page);
  assertNoTrouble(context);
  await context.close();
}

/** What is wider than its place, or cut off at the sides of the window. */
const tooWide = page =>
  page.evaluate(() => {
    const { shadowRoot } = document.querySelector('kith-widget');
    const all = Array.from(
      shadowRoot.querySelectorAll('.panel, .pane, .bar, .tab-bar, .composer, .chat-list, [role=log]'),
    );
    return all
      .filter(one => one.getClientRects().length > 0)
      .filter(
        one => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1,
      )
      .map(one => one.className);
  });

/** WCAG 2.2 §1.4.10: a window of 1280 by 1024 at 400 %. */
test('at 400 % zoom, in long words and from right to left, nothing scrolls sideways, and one can write', async () => {
  for (const settings of SCREENS) {
    await on(settings, { viewport: { width: 320, height: 256 } }, async page => {
      assert.deepEqual(await tooWide(page), [], JSON.stringify(settings));
      if (settings.open === undefined) return;
      const field = page.locator('.composer-field');
      await field.fill('Can be written');
      const box = await field.boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= 256, 'the field is in the window');
    });
  }
});

test('every language fits its tabs and its bar', async () => {
  const languages = 'ar cs de en es fa fr he hi it ja ko nl pl pt ru sv tr uk zh'.split(' ');
  await Promise.all(
    languages.map(lang =>
      on({ lang, requests: 120 }, { viewport: { width: 1280, height: 800 } }, async page => {
        assert.deepEqual(await tooWide(page), [], lang);
        const words = await page.locator('.tab > span:last-of-type').allTextContents();
        assert.equal(new Set(words).size, 4, `${lang}: ${words}`);
        const shell = page.locator('.shell');
        assert.equal(await shell.getAttribute('lang'), lang);
        assert.equal(await shell.getAttribute('dir'), ['ar', 'fa', 'he'].includes(lang) ? 'rtl' : 'ltr');
      }),
    ),
  );
});

test('in forced colours what is chosen and what can be pressed has a border', () =>
  on({ open: 'u2' }, { viewport: { width: 1280, height: 800 }, forcedColors: 'active' }, async page => {
    const width = selector =>
      page
        .locator(selector)
        .first()
        .evaluate(one => Number.parseFloat(getComputedStyle(one).borderTopWidth));
    for (const selector of ['.panel', '.icon-button']) assert.ok((await width(selector)) > 0, selector);
    if (process.env.LOOK) await page.screenshot({ path: `${process.env.LOOK}/forced-colours.png` });
  }));

test('without motion nothing moves', () =>
  on({ open: 'u2' }, { viewport: { width: 1280, height: 800 } }, async page => {
    const running = await page.evaluate(
      () =>
        document
          .querySelector('kith-widget')
          .shadowRoot.getAnimations()
          .filter(one => one.playState === 'running').length,
    );
    assert.equal(running, 0);
  }));
