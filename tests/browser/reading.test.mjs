// Accessible reading with a fake client: 400 % zoom, forced colours, reduced motion, right-to-left text.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoTrouble, launch, person, shot } from './browser.mjs';
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

/** Elements whose content overflows sideways, or that extend beyond the window. */
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

test('in forced colours the panel and its buttons have a border', () =>
  on({ open: 'u2' }, { viewport: { width: 1280, height: 800 }, forcedColors: 'active' }, async page => {
    const width = selector =>
      page
        .locator(selector)
        .first()
        .evaluate(one => Number.parseFloat(getComputedStyle(one).borderTopWidth));
    for (const selector of ['.panel', '.icon-button']) assert.ok((await width(selector)) > 0, selector);
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

for (const [lang, ui, text, runs] of [
  ['ar', 'rtl', 'See you at the big gate on Saturday at ten, and bring the seeds, please', 'ltr'],
  ['en', 'ltr', 'نلتقي يوم السبت عند البوابة الكبيرة في العاشرة، وأحضر البذور من فضلك', 'rtl'],
])
  test(`in ${lang} a text that runs the other way is whole at its beginning, and labels decide nothing`, () =>
    on({ lang, rooms: 2 }, { viewport: { width: 1280, height: 800 } }, async page => {
      await page.evaluate(text => {
        const { client } = globalThis;
        const own = { id: 'own', seq: 1, from: 'me', mine: true, state: 'read', body: text };
        const theirs = { id: 'theirs', seq: 2, from: 'u2', mine: false, state: 'received', body: text };
        const time = client.now;
        const set = (key, messages) => {
          client.timelines.set(key, { messages, more: false, loading: 'no' });
          client.chats.set(key, { ...client.conversation(key), last: messages.at(-1), unread: 0 });
          for (const topic of ['timeline', 'conversation']) client.change(`${topic}:${key}`);
        };
        set('@u2', [
          { ...theirs, seq: 1, time, pinned: true },
          { ...own, seq: 2, time, replyTo: 1 },
        ]);
        set('#r0', [
          { ...own, time },
          { ...theirs, time, replyTo: 1 },
        ]);
      }, text);
      /** The directions of a label and of the text beside it, and whether the label is at the beginning of the line. */
      const directions = selector =>
        page
          .locator(selector)
          .first()
          .evaluate(said => {
            const [label, text] = said.children.length > 1 ? said.children : [undefined, said.children[0]];
            const direction = one => getComputedStyle(one).direction;
            const [mine, theirs] = [label ?? said, text].map(one => one.getBoundingClientRect());
            const first = direction(said) === 'rtl' ? mine.right >= theirs.right : mine.left <= theirs.left;
            return { line: direction(said), text: direction(text), label: label !== undefined, first };
          });
      const expected = label => ({ line: ui, text: runs, label, first: true });
      for (const key of ['@u2', '#r0'])
        assert.deepEqual(await directions(`[data-chat="${key}"] .row-preview`), expected(true), key);
      await page.evaluate(() => globalThis.app.open('u2'));
      assert.deepEqual(await directions('.quote .quote-body'), expected(false), 'the quote of an answer');
      assert.deepEqual(await directions('.pin-bar .pin-text'), expected(false), 'the pinned message');
      assert.equal(
        await page
          .locator('.bubble')
          .last()
          .evaluate(one => getComputedStyle(one).direction),
        runs,
      );
      await shot(page.locator('.panel'), `chat-${lang}`);
    }));
