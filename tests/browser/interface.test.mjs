// The interface with a fake client: long lists, keyboard, screen readers, sizes, colours.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  assertAccessibleIn,
  assertNoTrouble,
  DESKTOP,
  launch,
  PHONE,
  person,
  settled,
  until,
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

/** Opens the interface on its own page for `run`. Afterwards the page may have no trouble. */
async function on(settings, options, run) {
  const context = await person(browser, options);
  const page = await context.newPage();
  await opened(page, settings);
  await run(page);
  assertNoTrouble(context);
  await context.close();
}

async function opened(page, settings) {
  await page.goto(site.url(settings));
  await page.locator('.panel').waitFor();
  // Wait for the opening animation of the panel, because it moves the elements to measure.
  await page.evaluate(settled);
}

// Finds a tab by its id, which is the same in all languages.
const tab = (page, name) => page.locator(`#tab-${name.toLowerCase()}`);
const focused = page =>
  page.evaluate(() => {
    const root = document.querySelector('kith-widget').shadowRoot;
    const one = root.activeElement;
    return one ? (one.getAttribute('aria-label') ?? one.textContent).trim() : null;
  });

describe('axe finds nothing', () => {
  const screens = {
    chats: {},
    'no chats': { settings: { chats: 0 } },
    'a chat': { settings: { open: 'u2' } },
    'unread messages': { settings: { open: 'u3' } },
    contacts: { act: page => tab(page, 'Contacts').click() },
    'a search': {
      act: async page => {
        await tab(page, 'Contacts').click();
        await page.getByRole('textbox', { name: 'Search people' }).fill('ana');
        await page.getByRole('listitem').first().waitFor();
      },
    },
    'nobody found': {
      act: async page => {
        await tab(page, 'Contacts').click();
        await page.getByRole('textbox', { name: 'Search people' }).fill('zzzz');
        await page.getByText('No people found').waitFor();
      },
    },
    'a search of everything': {
      settings: { rooms: 6 },
      act: async page => {
        await page.getByRole('button', { name: 'Search', exact: true }).click();
        await page.getByRole('combobox').fill('ri');
        await page.getByRole('option').nth(3).waitFor();
      },
    },
    'a search that finds nothing': {
      act: async page => {
        await page.getByRole('button', { name: 'Search', exact: true }).click();
        await page.getByRole('combobox').fill('zzzz');
        await page.getByText('No results').waitFor();
      },
    },
    'a search in a chat': {
      settings: { open: 'u2' },
      act: async page => {
        await page
          .getByRole('button', { name: /^Actions for/ })
          .last()
          .click();
        await page.getByRole('menuitem', { name: 'Search in this chat' }).click();
        await page.getByRole('combobox').fill('sunday');
        await page.getByRole('option').first().waitFor();
      },
    },
    'a list with nothing in it': {
      act: async page => {
        await page.getByRole('radio', { name: 'Archived' }).click();
        await page.getByText('No archived chats').waitFor();
      },
    },
    me: { act: page => tab(page, 'Me').click() },
    rooms: {
      settings: { rooms: 6 },
      act: async page => {
        await tab(page, 'Rooms').click();
        await page.locator('.room-row').first().waitFor();
      },
    },
    'a room': { settings: { rooms: 6, room: 'r0' }, act: page => page.locator('.room-head').waitFor() },
    'about a room': {
      settings: { rooms: 6, room: 'r0' },
      act: async page => {
        await page.locator('.room-head').click();
        await page.locator('.room-row').first().waitFor();
      },
    },
    'settings of a room': {
      settings: { rooms: 6, room: 'r0' },
      act: async page => {
        await page.locator('.room-head').click();
        await page.getByRole('button', { name: 'Settings' }).click();
      },
    },
    'formatted and changed messages': {
      settings: { open: 'u2' },
      act: async page => {
        await page.evaluate(() => {
          const { client } = globalThis;
          client.arrive(
            'u2',
            '**A** _list_ ~~of~~ `code`:\n- bread\n> quoted\n```\nlet x = 1;\n```\n[a link](https://a.example)',
          );
          client.arrive('u2', '🎉');
          client.react('@u2', 11, '👍', true);
          client.edit('@u2', 8, 'edited');
          client.remove('@u2', 9);
        });
        await page.locator('.body-emoji').waitFor();
      },
    },
    'a menu': {
      settings: { open: 'u2' },
      act: async page => {
        await page
          .getByRole('button', { name: /^Actions for/ })
          .last()
          .click();
        await page.getByRole('menu').waitFor();
      },
    },
    'a question': {
      settings: { site: 'contacts', open: 'u0' },
      act: async page => {
        await page.getByRole('button', { name: 'Block' }).click();
        await page.getByRole('alertdialog').waitFor();
      },
    },
    'a stranger': { settings: { site: 'contacts', open: 'u0' } },
    'a toast': {
      settings: { open: 'u3' },
      act: async page => {
        await page.evaluate(() => globalThis.client.arrive('u2', 'Are you coming?'));
        await page.locator('.toast').waitFor();
      },
    },
    'no connection': {
      settings: { state: 'waiting' },
      act: page => page.getByText('You are offline').waitFor(),
    },
  };
  // screens.test.mjs checks these screens on a real node: in light on a desktop and in dark on a phone.
  const elsewhere = 'chats,a chat,contacts,a search of everything,me,rooms,a room,about a room,a menu';
  const others = Object.keys(screens).filter(one => !elsewhere.split(',').includes(one));
  const alone = ['chats', 'a chat', 'contacts', 'rooms', 'a room', 'about a room'];
  const looks = {
    desktop: { options: DESKTOP, light: others, dark: Object.keys(screens) },
    'full page': { settings: { mode: 'inbox' }, options: DESKTOP, light: alone },
    phone: { options: PHONE, dark: others },
    'phone from right to left': { settings: { lang: 'ar' }, options: PHONE, light: alone },
  };
  for (const [look, { settings, options, ...schemes }] of Object.entries(looks)) {
    test(look, async () => {
      // One page for all screens: the loading of the page and of axe takes as long as a check.
      const context = await person(browser, { ...options, reducedMotion: 'reduce' });
      const page = await context.newPage();
      for (const screen of new Set(Object.values(schemes).flat())) {
        const { settings: more = {}, act } = screens[screen];
        const wanted = Object.keys(schemes).filter(scheme => schemes[scheme].includes(screen));
        await page.emulateMedia({ colorScheme: wanted[0] });
        await opened(page, { ...settings, ...more });
        await act?.(page);
        await assertAccessibleIn(wanted, page, `${screen}, ${look}`);
        await page.evaluate(() => {
          localStorage.clear();
          sessionStorage.clear();
        });
      }
      assertNoTrouble(context);
      await context.close();
    });
  }
});

describe('long lists', () => {
  /** Scrolls through a list. Returns the maximum number of elements, and the number of blank places. */
  const scrollThrough = (page, steps) =>
    page.evaluate(async steps => {
      const root = document.querySelector('kith-widget').shadowRoot;
      const list = root.querySelector('.virtual-list');
      let most = 0;
      let blanks = 0;
      for (let i = 0; i <= steps; i++) {
        list.scrollTop = (list.scrollHeight * i) / steps;
        await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        most = Math.max(most, root.querySelectorAll('*').length);
        const box = list.getBoundingClientRect();
        for (const y of [box.top + 4, (box.top + box.bottom) / 2, box.bottom - 4]) {
          if (root.elementFromPoint(box.left + 40, y)?.closest('[data-row]') === null) blanks += 1;
        }
      }
      return { most, blanks, height: list.scrollHeight };
    }, steps);

  test('8,000 contacts are a bounded number of elements, without a blank place', async () => {
    await on({ people: 8000 }, DESKTOP, async page => {
      await tab(page, 'Contacts').click();
      await page.getByRole('listitem').first().waitFor();
      const { most, blanks, height } = await scrollThrough(page, 60);
      assert.ok(height > 8_000 * 50, `${height} px are not 8,000 rows`);
      assert.ok(most < 900, `${most} elements`);
      assert.equal(blanks, 0);
      const watched = await until(
        () => page.evaluate(() => globalThis.client.watched.length),
        'watching those on the screen',
      );
      assert.ok(watched <= 30, `${watched} people watched`);
    });
  });

  test('10,000 chats too', async () => {
    await on({ people: 10_010, chats: 10_000 }, DESKTOP, async page => {
      const { most, blanks } = await scrollThrough(page, 60);
      assert.ok(most < 900, `${most} elements`);
      assert.equal(blanks, 0);
    });
  });

  test('screen readers learn the length of the whole list', async () => {
    await on({ people: 8000 }, DESKTOP, async page => {
      await tab(page, 'Contacts').click();
      const item = page.getByRole('listitem').first();
      assert.ok(Number(await item.getAttribute('aria-setsize')) > 8_000);
      assert.equal(await item.getAttribute('aria-posinset'), '1');
    });
  });

  test('a chat of 600 messages scrolls back to its start in place, with bounded elements', async () => {
    await on({ open: 'u3' }, DESKTOP, async page => {
      await page.locator('[data-message]').first().waitFor();
      const seen = await page.evaluate(async () => {
        const root = document.querySelector('kith-widget').shadowRoot;
        const scroller = root.querySelector('.history-scroller');
        const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
        const ids = new Set();
        let most = 0;
        const jumps = [];
        for (let i = 0; i < 400; i++) {
          const all = Array.from(scroller.querySelectorAll('[data-message]'));
          for (const one of all) ids.add(one.dataset.message);
          most = Math.max(most, all.length);
          const top = scroller.getBoundingClientRect().top;
          const anchor = all.find(one => one.getBoundingClientRect().bottom > top + 200);
          const before = anchor.getBoundingClientRect().top;
          const from = scroller.scrollTop;
          if (from === 0 && ids.has('u3-1')) break;
          scroller.scrollTop = from - 180;
          // In every frame the anchor has moved by the scrolled distance, also when messages are inserted above it.
          for (let frames = 0; frames < 3; frames++) {
            await frame();
            const moved = anchor.isConnected ? anchor.getBoundingClientRect().top - before : Number.NaN;
            if (from > 180 && !(Math.abs(moved - 180) <= 2)) jumps.push({ i, frames, from, moved });
          }
        }
        return { ids: ids.size, most, jumps };
      });
      assert.deepEqual({ ids: seen.ids, jumps: seen.jumps }, { ids: 600, jumps: [] });
      assert.ok(seen.most <= 240, `${seen.most} messages at once`);
      await page.getByRole('button', { name: 'Jump to newest' }).click();
      await until(() => page.locator('[data-message="u3-600"]').isVisible(), 'jump to the newest');
    });
  });
});

describe('a chat that is scrolled', () => {
  /** Scrolls up by 300 px, renders a new message before the `scroll` event, and returns how far a message moved. */
  const scrollUpDuring = (page, arriving) =>
    page.evaluate(async arriving => {
      const scroller = document.querySelector('kith-widget').shadowRoot.querySelector('.history-scroller');
      const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
      await frame();
      const all = Array.from(scroller.querySelectorAll('[data-message]'));
      const read = all.findLast(one => one.getBoundingClientRect().top < innerHeight / 2);
      const before = read.getBoundingClientRect().top;
      scroller.scrollTop -= 300;
      globalThis.client.arrive('u3', arriving);
      for (let i = 0; i < 4; i++) await frame();
      return Math.round(read.getBoundingClientRect().top - before);
    }, arriving);

  test('stays where the member scrolled it, though something draws before the browser tells of it', async () => {
    await on({ open: 'u3' }, DESKTOP, async page => {
      await page.locator('[data-message="u3-600"]').scrollIntoViewIfNeeded();
      assert.equal(await scrollUpDuring(page, 'while at the end'), 300);
      assert.equal(await scrollUpDuring(page, 'while further up'), 300);
    });
  });
});

describe('keyboard', () => {
  test('tabs, list, chat and back, without a mouse', async () => {
    await on({ theme: 'light' }, DESKTOP, async page => {
      await tab(page, 'Chats').focus();
      await page.keyboard.press('ArrowRight');
      assert.match(await focused(page), /Contacts/);
      await page.keyboard.press('End');
      assert.match(await focused(page), /^Me/);
      await page.keyboard.press('ArrowRight');
      assert.match(await focused(page), /Chats/);
      await page.locator('.chat-row .row-main').first().focus();
      const first = await focused(page);
      await page.keyboard.press('ArrowDown');
      const second = await focused(page);
      assert.notEqual(second, first);
      await page.keyboard.press('End');
      await page.keyboard.press('Home');
      assert.equal(await focused(page), first);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('log').waitFor();
      assert.match(await until(() => focused(page), 'focus in the composer'), /^Message /);
      await page.keyboard.type('Hi there');
      await page.keyboard.press('Shift+Enter');
      await page.keyboard.type('again');
      await page.keyboard.press('Enter');
      assert.ok(
        await page.evaluate(() => globalThis.client.calls.some(call => call.endsWith('Hi there\nagain'))),
      );
      await page.keyboard.press('Escape');
      assert.equal(
        await until(() => focused(page), 'focus on the row'),
        await page.locator('[data-stop][tabindex="0"]').textContent(),
      );
      await page.keyboard.press('Escape');
      await until(async () => (await page.locator('.panel').count()) === 0, 'the panel closes');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'launcher');
    });
  });

  test('a row menu opens from the keyboard, and Escape gives the focus back', async () => {
    await on({}, DESKTOP, async page => {
      await page.locator('.chat-row .row-main').first().focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('menu').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      await until(async () => (await page.getByRole('menu').count()) === 0, 'the menu closes');
      assert.match(await focused(page), /^Actions for/);
    });
  });

  test('messages are walked with arrows, answered and copied from their menu', async () => {
    await on({ open: 'u2' }, DESKTOP, async page => {
      await page.getByRole('log').waitFor();
      await page.locator('[data-message]').last().focus();
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Reply' }).press('Enter');
      await page.getByText('Reply to').waitFor();
      await until(async () => /^Message /.test(await focused(page)), 'focus in the composer');
      await page.keyboard.press('Escape');
      await until(async () => (await page.getByText('Reply to').count()) === 0, 'no longer a reply');
    });
  });

  test('Enter that chooses a character does not send', async () => {
    await on({ open: 'u2' }, DESKTOP, async page => {
      const field = page.getByRole('textbox', { name: /^Message / });
      await field.fill('にほ');
      await field.dispatchEvent('keydown', {
        key: 'Enter',
        isComposing: true,
        bubbles: true,
        cancelable: true,
      });
      await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true });
      assert.ok(!(await page.evaluate(() => globalThis.client.calls.some(call => call.startsWith('send')))));
      await field.press('Enter');
      assert.ok(await page.evaluate(() => globalThis.client.calls.some(call => call.startsWith('send'))));
    });
  });

  test('F6 goes from the page to the widget and back', async () => {
    await on({}, DESKTOP, async page => {
      await page.locator('#launcher').focus();
      await page.keyboard.press('F6');
      assert.notEqual(await focused(page), null);
      await page.keyboard.press('F6');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'launcher');
      await page.keyboard.press('Alt+c');
      assert.notEqual(await focused(page), null);
    });
  });
});

describe('screen readers', () => {
  test('the history is a log that keeps silent; one region speaks, and not for every message of a flood', async () => {
    await on({ open: 'u2' }, DESKTOP, async page => {
      assert.equal(await page.getByRole('log').getAttribute('aria-live'), 'off');
      assert.equal(await page.locator('[aria-live=polite]').count(), 1);
      const region = page.locator('[aria-live=polite]');
      await page.evaluate(() => globalThis.client.arrive('u2', 'Can you hear me?'));
      await until(
        async () => (await region.textContent()) === 'Léa Okafor: Can you hear me?',
        'the first one is said',
      );
      await page.evaluate(() => {
        for (let i = 0; i < 5; i++) globalThis.client.arrive('u2', `flood ${i}`);
      });
      await until(
        async () => (await region.textContent()) === '5 new messages from Léa Okafor',
        'the flood is summed up',
      );
    });
  });

  test('the panel is a region, on a phone a modal dialog', async () => {
    await on({}, DESKTOP, page => page.getByRole('region', { name: 'Messenger' }).waitFor());
    await on({}, PHONE, page => page.getByRole('dialog', { name: 'Messenger' }).waitFor());
  });
});

describe('phone', () => {
  test('Back leaves the chat, then the sheet, then nothing of ours is left', async () => {
    const context = await person(browser, PHONE);
    const page = await context.newPage();
    await page.goto(site.url({ closed: '' }));
    const entries = await page.evaluate(() => history.length);
    await page.locator('#launcher').tap();
    await page.locator('.chat-row .row-main').first().tap();
    await page.getByRole('log').waitFor();
    await page.goBack();
    await until(async () => (await page.getByRole('log').count()) === 0, 'the list after Back');
    assert.equal(await page.locator('.panel').count(), 1);
    await page.goBack();
    await until(async () => (await page.locator('.panel').count()) === 0, 'the page after Back');
    assert.match(page.url(), /closed/);
    await page.locator('#launcher').tap();
    await page.getByRole('button', { name: 'Close' }).tap();
    await until(
      () => page.evaluate(() => history.state?.kithDepth === undefined || history.state.kithDepth === 0),
      'leaving by the cross goes back too',
    );
    assert.ok((await page.evaluate(() => history.length)) <= entries + 2);
    await context.close();
  });

  test('the page behind stays still, Tab stays inside', async () => {
    await on({}, PHONE, async page => {
      assert.equal(await page.evaluate(() => document.documentElement.style.overflow), 'hidden');
      for (let i = 0; i < 25; i++) {
        await page.keyboard.press('Tab');
        assert.notEqual(await focused(page), null, `after ${i + 1} times Tab`);
      }
      await page.getByRole('button', { name: 'Close' }).tap();
      // The close button goes back in the history, and the browser does that asynchronously.
      await until(
        () => page.evaluate(() => document.documentElement.style.overflow !== 'hidden'),
        'the page scrolls again',
      );
    });
  });

  test('touch targets are at least 44 px', async () => {
    for (const settings of [{}, { open: 'u2' }, { site: 'contacts', open: 'u0' }]) {
      await on(settings, PHONE, async page => {
        const small = await page.evaluate(() => {
          const root = document.querySelector('kith-widget').shadowRoot;
          return Array.from(root.querySelectorAll('button, input, textarea'))
            .filter(
              one =>
                one.closest('[inert], .message-tools') === null &&
                getComputedStyle(one).pointerEvents !== 'none',
            )
            .filter(one => !one.classList.contains('quote') && one.getClientRects().length > 0)
            .map(one => [one.getAttribute('aria-label') ?? one.textContent, one.getBoundingClientRect()])
            .filter(([, box]) => box.height < 43.5 || box.width < 43.5)
            .map(([name, box]) => `${name}: ${Math.round(box.width)}×${Math.round(box.height)}`);
        });
        assert.deepEqual(small, []);
      });
    }
  });
});

describe('sizes and settings', () => {
  test('at 400 % zoom everything is reachable without scrolling sideways', async () => {
    for (const settings of [{}, { open: 'u2' }]) {
      await on(settings, { viewport: { width: 320, height: 256 }, reducedMotion: 'reduce' }, async page => {
        const wide = await page.evaluate(() => {
          const root = document.querySelector('kith-widget').shadowRoot;
          const all = Array.from(root.querySelectorAll('.panel *')).filter(
            one => one.closest('.hidden-text, .clip > *') === null,
          );
          const past = all.filter(one => one.getBoundingClientRect().right > 321);
          return past.map(one => `${one.localName} in ${one.closest('[class]').getAttribute('class')}`);
        });
        assert.deepEqual(wide, []);
        if (settings.open) assert.ok(await page.getByRole('textbox', { name: /^Message / }).isVisible());
        else assert.ok(await page.locator('.row-main').first().isVisible());
      });
    }
  });

  test('from right to left the chat mirrors, and each message keeps its own direction', async () => {
    await on({ lang: 'ar', open: 'u2' }, DESKTOP, async page => {
      await page.evaluate(() => globalThis.client.arrive('u2', 'مرحبا'));
      const own = await page.locator('.message.own .bubble').last().boundingBox();
      const other = await page.locator('.message.other .bubble').last().boundingBox();
      assert.ok(own.x < other.x, 'own messages stand on the left');
      const directions = await page
        .locator('.bubble')
        .evaluateAll(all => all.map(one => getComputedStyle(one).direction));
      assert.ok(directions.includes('rtl') && directions.includes('ltr'), directions.join());
    });
  });

  test('the system decides on dark until the member does, and only then something is stored', async () => {
    await on({}, { ...DESKTOP, colorScheme: 'dark' }, async page => {
      const host = page.locator('kith-widget');
      assert.equal(await host.getAttribute('data-theme'), 'dark');
      assert.equal(await page.evaluate(() => localStorage.length), 0);
      await tab(page, 'Me').click();
      await page.getByRole('radio', { name: 'Light' }).click();
      assert.equal(await host.getAttribute('data-theme'), 'light');
      assert.equal(await page.evaluate(() => localStorage.getItem('kith.theme')), 'light');
    });
  });

  test('German where the page is German', async () => {
    await on({ lang: 'de' }, DESKTOP, page => page.getByRole('tab', { name: 'Kontakte' }).waitFor());
  });

  test('a message near the limit is counted, one over it is not sent', async () => {
    await on({ open: 'u2' }, DESKTOP, async page => {
      const field = page.getByRole('textbox', { name: /^Message / });
      await field.fill('x'.repeat(3_990));
      await page.getByText('10 characters left').waitFor();
      await field.fill('x'.repeat(4_001));
      await page.getByText('1 character too long').waitFor();
      await field.press('Enter');
      assert.ok(!(await page.evaluate(() => globalThis.client.calls.some(call => call.startsWith('send')))));
    });
  });
});
