// Two members of the demo community, in two browsers, through a real server.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  assertAccessible,
  assertAccessibleIn,
  assertNoTrouble,
  DESKTOP,
  launch,
  PHONE,
  person,
  until,
  untilIn,
} from './browser.mjs';
import { Kith } from './kith.mjs';
import { asMembers, Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** A new browser of a member. After `run` it is checked for trouble and closed. */
const as = (...asked) => asMembers(browser, kith, ...asked);

test('two members see each other online, write, receive and read', async () => {
  await as(['ingrid', 'raj'], async (ingrid, raj) => {
    await ingrid.chatWith('Raj Patel');
    await until(async () => (await ingrid.presence()) === 'Online', 'Raj is seen online');
    await ingrid.say('Shall we share the wheelbarrow?');
    await ingrid.becomes('Shall we share the wheelbarrow?', 'received');

    const row = raj.page.locator('kith-widget .chat-row', { hasText: 'Ingrid Haug' });
    await row.getByText('Shall we share').waitFor();
    await row.getByText('1 unread message').waitFor();
    assert.match(await raj.unread(), /1 unread/);
    assert.match(await raj.page.title(), /^\(1\) /);
    await row.locator('.row-main').click();
    await raj.sees('Shall we share the wheelbarrow?');
    await ingrid.becomes('Shall we share the wheelbarrow?', 'read');
    await until(async () => !/unread/.test(await raj.unread()), 'the badge goes');
    await until(async () => !/^\(/.test(await raj.page.title()), 'the number in the title goes');

    await raj.field.pressSequentially('Of course', { delay: 20 });
    await ingrid.page.getByText(/Raj Patel\u2069? is typing/).waitFor({ state: 'attached' });
    await raj.field.press('Enter');
    await ingrid.sees('Of course');
    await raj.becomes('Of course', 'read');
  });
});

test('a chat that the page asks for comes to the front, whatever lies over the panel', async () => {
  const context = await person(browser);
  const anna = await Widget.of(context, kith, 'anna');
  await anna.chatWith('Raj Patel');
  await anna.page.getByRole('button', { name: 'Emoji' }).click();
  const picker = anna.page.getByRole('dialog', { name: 'Emoji' });
  for (const [user, name] of [
    ['raj', 'Raj Patel'],
    ['tom', 'Tom'],
  ]) {
    if (user === 'tom') await anna.page.getByRole('button', { name: 'Emoji' }).click();
    await picker.waitFor();
    await anna.page.evaluate(user => globalThis.Kith.open(user), user);
    await picker.waitFor({ state: 'detached' });
    await anna.page.locator('kith-widget .chat-name', { hasText: name }).waitFor();
    await anna.field.fill('In front');
  }
  assertNoTrouble(context);
  await context.close();
});

test('a button of the page opens the chat with somebody, though it was pressed before the script had come', async () => {
  const context = await person(browser);
  const page = await context.newPage();
  await page.goto(`${kith.url}/as/anna/`);
  let bring;
  const pressed = new Promise(done => {
    bring = done;
  });
  await page.route('**/kith.js', route => pressed.then(() => route.continue()));
  await page.locator('a.title').first().click({ noWaitAfter: true });
  const button = page.locator('[data-kith-open]').first();
  const anna = new Widget(page);
  const loaded = () => {
    const [loading] = performance.getEntriesByType('navigation');
    return loading.domContentLoadedEventEnd > 0 && document.querySelector('[data-kith-open]') !== null;
  };
  await untilIn(page, loaded, 'the page of the thread is loaded');
  await button.click();
  bring();
  await anna.field.waitFor();
  assert.match(await button.textContent(), /\w/);
  const user = await button.getAttribute('data-kith-open');
  await until(
    async () => (await page.locator('kith-widget .chat-name').textContent()) !== user,
    'the name comes',
  );
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await until(async () => (await anna.panel.count()) === 0, 'the panel closes');
  assertNoTrouble(context);
  await context.close();
});

test('after a reload the conversation, the draft and the place are there', async () => {
  await as(['mei', 'yusuf'], async mei => {
    await mei.chatWith('Yusuf Demir');
    await mei.say('Are the seeds here?');
    await mei.becomes('Are the seeds here?', 'received');
    await mei.field.fill('half a thought');
    const before = await mei.texts();
    await mei.page.waitForTimeout(400);
    await mei.page.reload();
    await mei.show();
    await mei.page.locator('kith-widget .chat-row', { hasText: 'Yusuf Demir' }).locator('.row-main').click();
    await until(async () => (await mei.texts()).length >= before.length, 'the history is back');
    assert.deepEqual(await mei.texts(), before);
    assert.equal(await mei.field.inputValue(), 'half a thought');
  });
});

test('reads and messages of one device reach the other', async () => {
  await as(['chloe', 'chloe', 'piotr'], async (laptop, phone, piotr) => {
    await piotr.chatWith('Chloé Martin');
    await piotr.say('Bonjour!');
    for (const device of [laptop, phone]) {
      await device.page
        .locator('kith-widget .chat-row', { hasText: 'Bonjour!' })
        .getByText('1 unread message')
        .waitFor();
    }
    await laptop.page.locator('kith-widget .chat-row', { hasText: 'Piotr' }).locator('.row-main').click();
    await piotr.becomes('Bonjour!', 'read');
    await until(async () => !/unread/.test(await phone.unread()), 'reading here clears there');
    await laptop.say('Salut Piotr');
    await phone.page.locator('kith-widget .chat-row', { hasText: 'Salut Piotr' }).waitFor();
    await phone.page.locator('kith-widget .chat-row', { hasText: 'Piotr' }).locator('.row-main').click();
    await phone.sees('Salut Piotr');
    assert.deepEqual((await phone.messages()).at(-1).mine, true);
    await piotr.sees('Salut Piotr');
  });
});

test('an answer quotes what it answers, on both sides', async () => {
  await as(['sofia', 'hamish'], async (sofia, hamish) => {
    await sofia.chatWith('Hamish Reid');
    await sofia.say('Which day is the compost delivery?');
    await hamish.page
      .locator('kith-widget .chat-row', { hasText: 'Sofia Rossi' })
      .locator('.row-main')
      .click();
    await hamish.sees('Which day is the compost delivery?');
    await hamish.page.locator('kith-widget [data-message]').last().hover();
    await hamish.page
      .locator('kith-widget [data-message]')
      .last()
      .getByRole('button', { name: 'Reply' })
      .click();
    await hamish.say('Thursday');
    await sofia.sees('Thursday');
    for (const side of [sofia, hamish]) {
      const quote = side.page.locator('kith-widget [data-message]').last().locator('.quote');
      assert.match(await quote.textContent(), /Which day is the compost delivery\?/);
    }
  });
});

test('a chat is muted, pinned and archived, and comes back from there', async () => {
  await as(['anna'], async anna => {
    const rows = anna.page.locator('kith-widget .chat-row');
    await rows.first().waitFor();
    const name = await rows.last().locator('.row-name').textContent();
    const row = rows.filter({ hasText: name });
    const act = async what => {
      await row.locator('.row-main').click({ button: 'right' });
      await anna.page.getByRole('menuitem', { name: what }).click();
    };
    await act('Pin to top');
    await until(
      async () => (await rows.first().locator('.row-name').textContent()) === name,
      'the pinned one is first',
    );
    await act('Mute for 8 hours');
    await row.getByText('Muted').waitFor({ state: 'attached' });
    await act('Archive');
    await until(async () => (await row.count()) === 0, 'it is gone from the list');
    await anna.page.getByRole('radio', { name: 'Archived' }).click();
    await row.waitFor();
    await act('Unarchive');
    await anna.page.getByRole('radio', { name: 'All' }).click();
    await row.waitFor();
  });
});

test('away is seen as away, invisible as offline', async () => {
  await as(['amara', 'jonas'], async (amara, jonas) => {
    await jonas.chatWith('Amara Nwosu');
    await until(async () => (await jonas.presence()) === 'Online', 'online');
    await amara.tab('Me').click();
    await amara.page.getByRole('radio', { name: /Away/ }).click();
    await until(async () => (await jonas.presence()) === 'Away', 'away');
    await amara.page.getByRole('radio', { name: /Invisible/ }).click();
    await until(async () => /Offline|Last seen/.test(await jonas.presence()), 'invisible');
    await amara.page.getByRole('radio', { name: /Online/ }).click();
    await until(async () => (await jonas.presence()) === 'Online', 'online again');
  });
});

test('keyboard alone: from the page to a sent message and back', async () => {
  await as(['tom', 'ingrid'], async (tom, ingrid) => {
    const { page } = tom;
    await page.keyboard.press('Escape');
    await until(async () => (await tom.panel.count()) === 0, 'closed');
    await page.keyboard.press('Enter');
    await tom.panel.waitFor();
    await tom.tab(/Chats/).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+Tab');
    await page.getByRole('textbox', { name: 'Search people' }).waitFor();
    while (
      (await page.evaluate(
        () => document.querySelector('kith-widget').shadowRoot.activeElement?.localName,
      )) !== 'input'
    ) {
      await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.type('Ingrid');
    const found = page.locator('kith-widget .person-row');
    await until(async () => (await found.count()) === 1, 'only Ingrid is left in the list');
    await page.keyboard.press('Tab');
    while (
      !(await page.evaluate(() =>
        document.querySelector('kith-widget').shadowRoot.activeElement?.hasAttribute('data-stop'),
      ))
    ) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await tom.field.waitFor();
    await page.keyboard.type('Hello from the keyboard');
    await page.keyboard.press('Enter');
    await ingrid.page.locator('kith-widget .chat-row', { hasText: 'Hello from the keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await until(async () => (await tom.panel.count()) === 0, 'closed by Escape');
  });
});

test('typing at once loses no letter: the field has the focus before anything is painted', async () => {
  await as(['anna'], async anna => {
    await anna.page.locator('kith-widget .chat-row .row-main').first().waitFor();
    const [label, text] = await anna.page.evaluate(async () => {
      const root = document.querySelector('kith-widget').shadowRoot;
      root.querySelector('.chat-row .row-main').click();
      // Wait in microtasks only, so that nothing is painted before the check.
      while (root.querySelector('.composer-field') === null) await Promise.resolve();
      const focused = root.activeElement;
      const field = root.querySelector('.composer-field');
      field.value = 'H';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      for (let i = 0; i < 3; i++) await new Promise(resolve => requestAnimationFrame(resolve));
      return [focused?.getAttribute('aria-label'), field.value];
    });
    assert.match(label ?? 'nothing', /^Message /);
    assert.equal(text, 'H');
  });
});

describe('on every size and in every colour axe finds nothing', () => {
  for (const [look, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    test(look, async () => {
      await as(
        ['anna'],
        async anna => {
          const check = what => assertAccessibleIn(['light', 'dark'], anna.page, `${what}, ${look}`);
          await anna.page.locator('kith-widget .chat-row').first().waitFor();
          await check('chats');
          await anna.page.locator('kith-widget .chat-row .row-main').first().click();
          await anna.page.locator('kith-widget [data-message]').first().waitFor();
          await check('a chat');
          await anna.back();
          await anna.tab('Contacts').click();
          await anna.page.locator('kith-widget .person-row').first().waitFor();
          await check('contacts');
          await anna.tab('Me').click();
          await check('me');
          await anna.page.getByRole('button', { name: 'Close' }).click();
          await check('closed');
        },
        { ...options, reducedMotion: 'reduce' },
      );
    });
  }
});

test('the messenger as a page of its own: list and chat side by side', async () => {
  const context = await person(browser);
  const page = await context.newPage();
  await page.goto(`${kith.url}/full/anna`);
  const anna = new Widget(page);
  await page.locator('kith-widget .chat-row .row-main').first().click();
  await page.locator('kith-widget [data-message]').first().waitFor();
  assert.ok(
    await page.locator('kith-widget .chat-row').first().isVisible(),
    'the list stays beside the chat',
  );
  await anna.say('From the big page');
  await anna.becomes('From the big page', 'sent');
  await assertAccessible(page, 'full page');
  assertNoTrouble(context);
  await context.close();
});

test('before somebody acts there is no cookie and no storage', async () => {
  const context = await person(browser);
  const page = await context.newPage();
  await page.goto(`${kith.url}/visit/`);
  await page.locator('kith-widget .launcher').waitFor();
  await page.waitForLoadState('networkidle');
  assert.deepEqual(await context.cookies(), []);
  const stored = await page.evaluate(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).map(database => database.name),
    caches: await caches.keys(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
  }));
  assert.deepEqual(stored, { local: 0, session: 0, databases: [], caches: [], workers: 0 });
  assertNoTrouble(context);
  await context.close();
});

test('a guest who has written comes back as the same guest and finds the answer; one who has looked leaves nothing', async () => {
  const [visitor, other] = await Promise.all([person(browser), person(browser)]);
  const visit = async () => {
    const page = await visitor.newPage();
    await page.goto(`${kith.url}/visit/`);
    const widget = new Widget(page);
    await widget.launcher.waitFor();
    return widget;
  };
  const kept = widget =>
    widget.page.evaluate(() => Object.keys(localStorage).filter(key => /guest/.test(key)).length);

  let guest = await visit();
  await guest.show();
  await guest.tab('Contacts').click();
  await guest.page.locator('kith-widget .person-row').first().waitFor();
  assert.equal(await kept(guest), 0, 'who has looked is not known');
  await guest.chatWith('Piotr');
  await guest.say('Do you ship to Norway?');
  await guest.becomes('Do you ship to Norway?', 'sent');
  await until(async () => (await kept(guest)) === 1, 'who has written is');
  await guest.page.close();

  const piotr = await Widget.of(other, kith, 'piotr');
  await piotr.page
    .locator('kith-widget .chat-row', { hasText: 'Do you ship to Norway?' })
    .locator('.row-main')
    .click();
  await piotr.say('We do, since May.');

  guest = await visit();
  await until(async () => /1 unread/.test(await guest.unread()), 'the button tells of the answer');
  await guest.show();
  await guest.page
    .locator('kith-widget .chat-row', { hasText: 'We do, since May.' })
    .locator('.row-main')
    .click();
  await until(async () => (await guest.texts()).length === 2, 'the whole conversation');
  assert.deepEqual(await guest.texts(), ['Do you ship to Norway?', 'We do, since May.']);
  for (const context of [visitor, other]) {
    assertNoTrouble(context);
    await context.close();
  }
});
