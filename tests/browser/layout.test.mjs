// The layout with a fake client: readable text at 360 px, no covered elements, the width of lines.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertNoTrouble, launch, person, settled, until, untilIn } from './browser.mjs';
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

const DESKTOP = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };
const NARROW_PHONE = {
  viewport: { width: 360, height: 740 },
  hasTouch: true,
  isMobile: true,
  reducedMotion: 'reduce',
};

async function on(settings, options, run, prepare = () => {}) {
  const context = await person(browser, options);
  const page = await context.newPage();
  await prepare(page);
  await page.goto(site.url(settings));
  if (settings.closed === undefined) await page.locator('.panel').waitFor();
  await page.evaluate(settled);
  await run(page);
  assertNoTrouble(context);
  await context.close();
}

const LOOKS = {
  'the panel of a desktop': [{}, DESKTOP],
  'a phone of 360 px': [{}, NARROW_PHONE],
  'a phone of 360 px, right to left': [{ lang: 'ar' }, NARROW_PHONE],
  'a dark panel': [{ theme: 'dark' }, DESKTOP],
};

describe('the bar above a chat', () => {
  for (const [look, [settings, options]] of Object.entries(LOOKS)) {
    for (const chat of [{ open: 'u3' }, { rooms: 3, room: 'r1' }]) {
      test(`leaves the name 110 px: ${look}, ${Object.keys(chat)}`, async () => {
        await on({ ...settings, ...chat }, options, async page => {
          // Wait for the buttons of calls, which load late and take space. The bar then has the maximum of five
          // buttons.
          await page.locator('.pane-chat .chat-name').waitFor();
          await page.waitForLoadState('networkidle');
          await page.evaluate(settled);
          const bar = await page.locator('.pane-chat .chat-who').boundingBox();
          assert.ok(bar.width >= 110, `${bar.width} px`);
        });
      });
    }
  }

  test('the full page is in its menu', async () => {
    await on({ open: 'u2' }, DESKTOP, async page => {
      await page
        .getByRole('button', { name: /^Actions for/ })
        .last()
        .click();
      await page.getByRole('menuitem', { name: 'Open as full page' }).click();
      await page.locator('.shell.full').waitFor();
      await page.getByRole('button', { name: 'Back to the corner' }).first().click();
      await page.locator('.shell.corner').waitFor();
    });
  });
});

test('on a page of 1920 px the text of a chat is at most 900 px wide, and the writing field as wide as it', async () => {
  const options = { viewport: { width: 1920, height: 1000 }, reducedMotion: 'reduce' };
  await on({ mode: 'inbox', open: 'u2' }, options, async page => {
    const [items, composer] = await Promise.all([
      page.locator('.history-items').boundingBox(),
      page.locator('.composer').boundingBox(),
    ]);
    assert.ok(items.width <= 900 && composer.width <= 900, `${items.width} ${composer.width}`);
    assert.equal(items.x, composer.x);
  });
});

test('the time stands at the last message of a burst only', async () => {
  await on({ open: 'u2' }, DESKTOP, async page => {
    const clocks = await page.evaluate(() => {
      const root = document.querySelector('kith-widget').shadowRoot;
      return Array.from(root.querySelectorAll('.message'), one => ({
        last: one.classList.contains('last'),
        shown: one.querySelector('time').getBoundingClientRect().width > 1,
      }));
    });
    assert.ok(clocks.some(one => !one.last) && clocks.some(one => one.last));
    assert.deepEqual(
      clocks.filter(one => one.shown !== one.last),
      [],
    );
  });
});

test('opened by a key, the newest chat has the focus and Tab stays in the panel; F6 leaves it', async () => {
  await on({ closed: '' }, DESKTOP, async page => {
    const inside = () =>
      page.evaluate(() => document.querySelector('kith-widget').shadowRoot.activeElement?.className);
    await page.locator('#launcher').focus();
    await page.keyboard.press('Enter');
    await page.locator('.chat-row').first().waitFor();
    assert.equal(await inside(), 'row-main');
    for (let i = 0; i < 20; i++) {
      await page.keyboard.press(i < 10 ? 'Tab' : 'Shift+Tab');
      assert.ok(await inside(), `after ${i + 1} steps`);
    }
    await page.keyboard.press('F6');
    assert.equal(await inside(), undefined);
  });
});

describe('while the code of the focus keys has not arrived', () => {
  const FOCUS_CODE = /\/focus-[^/]*\.js$/;
  const active = () => document.querySelector('kith-widget').shadowRoot.activeElement?.className;

  /** Opens the panel by a key. `run` gets a function that answers the request for the code. */
  async function openedByKey(run) {
    let answer;
    const asked = new Promise(resolve => {
      answer = resolve;
    });
    const hold = page => page.route(FOCUS_CODE, async route => (await asked)(route));
    const open = async page => {
      const request = page.waitForRequest(FOCUS_CODE);
      await page.locator('#launcher').focus();
      await page.keyboard.press('Enter');
      await request;
      assert.equal(await page.evaluate(active), 'row-main');
      await run(page, answer);
    };
    await on({ closed: '' }, DESKTOP, open, hold);
  }

  test('Tab waits for it, and does not leave the panel', async () => {
    await openedByKey(async (page, answer) => {
      const first = () =>
        document.querySelector('kith-widget').shadowRoot.activeElement?.title === 'Open as full page';
      for (let i = 0; i < 3; i++) {
        await page.keyboard.press('Tab');
        assert.ok(await page.evaluate(active), `after ${i + 1} steps`);
      }
      answer(route => route.continue());
      // After the row: its menu, the selected tab, and the first button of the panel.
      await untilIn(page, first, 'the focus is on the first button');
    });
  });

  test('Tab works as in the page if it cannot be loaded', async () => {
    await openedByKey(async (page, answer) => {
      await page.keyboard.press('Tab');
      // A module that fails rejects its import, as a lost connection does, but logs nothing.
      answer(route => route.fulfill({ contentType: 'text/javascript', body: 'throw new Error()' }));
      const outside = async () => {
        await page.keyboard.press('Tab');
        return (await page.evaluate(active)) === undefined;
      };
      await until(outside, 'the focus leaves the panel');
    });
  });
});

test('each group of emoji is one click away, and nothing of the picker sticks out of the panel', async () => {
  for (const options of [DESKTOP, NARROW_PHONE]) {
    await on({ open: 'u2' }, options, async page => {
      await page.getByRole('button', { name: 'Emoji' }).click();
      await page.getByRole('toolbar', { name: 'Categories' }).waitFor();
      await page.getByRole('button', { name: 'Travel and places' }).click();
      const seen = await page.evaluate(() => {
        const root = document.querySelector('kith-widget').shadowRoot;
        const list = root.querySelector('.picker-list');
        const [frame, panel] = ['.picker', '.panel'].map(one =>
          root.querySelector(one).getBoundingClientRect(),
        );
        return {
          at:
            root.querySelector('[data-group=travel]').getBoundingClientRect().top -
            list.getBoundingClientRect().top,
          wide: list.scrollWidth - list.clientWidth,
          out: frame.left < panel.left || frame.right > panel.right || frame.bottom > panel.bottom,
        };
      });
      assert.ok(Math.abs(seen.at) < 2, `${seen.at}`);
      assert.deepEqual([seen.wide, seen.out], [0, false]);
    });
  }
});

describe('the tools of a message', () => {
  for (const [look, settings, options] of [
    ['panel', { open: 'u2' }, DESKTOP],
    ['panel of a room', { rooms: 3, room: 'r1' }, DESKTOP],
    ['right to left', { open: 'u2', lang: 'ar' }, DESKTOP],
    ['full page', { open: 'u2', mode: 'inbox' }, DESKTOP],
  ]) {
    test(`stand beside the bubble, not over its text: ${look}`, async () => {
      await on(settings, options, async page => {
        // The tools are drawn when the pointer enters their message.
        await page.evaluate(() => {
          const root = document.querySelector('kith-widget').shadowRoot;
          for (const one of root.querySelectorAll('.message'))
            one.dispatchEvent(new PointerEvent('pointerenter'));
        });
        await page.locator('.message:last-child .message-tools').waitFor({ state: 'attached' });
        const overlaps = await page.evaluate(() => {
          const root = document.querySelector('kith-widget').shadowRoot;
          const frame = root.querySelector('.history').getBoundingClientRect();
          return Array.from(root.querySelectorAll('.message'), one => {
            const bubble = one.querySelector('.bubble').getBoundingClientRect();
            const tools = one.querySelector('.message-tools').getBoundingClientRect();
            const apart = tools.left >= bubble.right || tools.right <= bubble.left;
            const inside = tools.left >= frame.left && tools.right <= frame.right;
            return apart && inside && tools.width > 0 ? undefined : one.textContent;
          }).filter(Boolean);
        });
        assert.deepEqual(overlaps, []);
      });
    });
  }
});
