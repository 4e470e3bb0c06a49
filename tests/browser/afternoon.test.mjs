// An afternoon on one site. The owner creates it, sets its colour and pastes the snippet. Two members, a moderator and
// a stranger use it: one on two devices, one on a phone in Arabic. A member who has closed the site gets a push, from
// the node to the owner's service worker. No console may show an error.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertNoTrouble,
  DESKTOP,
  launchWithNotifications,
  PHONE,
  person,
  until,
} from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { pushService, takesPushes } from './push_service.mjs';
import { Widget } from './widget.mjs';

const SITE = 'allotment';
const STYLE = `
  kith-widget { --kith-accent: #7a1fa2; --kith-accent-hover: #62148a; --kith-accent-text: #ffffff; --kith-accent-soft: #f3e5f9; }
  @media (prefers-color-scheme: dark) {
    kith-widget { --kith-accent: #d7a6ee; --kith-accent-hover: #e4c1f5; --kith-accent-text: #2b0b3a; --kith-accent-soft: #3a2148; }
  }`;

let browser;
let kith;
let host;
let pushes;
before(async () => {
  const devices = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  pushes = await pushService();
  [browser, kith] = await Promise.all([launchWithNotifications(...devices), Kith.start(pushes.settings)]);
  host = await hostPage(kith, SITE, { style: STYLE, body: '<h1>The allotments</h1>', worker: true });
  await kith.addSite(SITE, '--origin', host.origin);
  await kith.command('site', 'set', SITE, 'requests.on=true');
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
  await pushes.close();
});

/** Opens the owner's page for a user, with the panel open. */
async function comes(user, options = DESKTOP) {
  const context = await person(browser, options);
  await context.grantPermissions(['microphone'], { origin: host.origin });
  return { context, widget: await visit(context, user) };
}

/** The shown notices of a context's browser. No page with the messenger needs to be open. */
async function notices(context) {
  const page = await context.newPage();
  await page.goto(`${host.origin}/style.css`);
  const shown = await page.evaluate(async () => {
    const [registration] = await navigator.serviceWorker.getRegistrations();
    const all = (await registration?.getNotifications()) ?? [];
    return all.map(({ title, body, tag }) => ({ title, body, tag: tag.slice(0, 6) }));
  });
  await page.close();
  return shown;
}

async function visit(context, user) {
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=${user}`);
  const widget = new Widget(page);
  await widget.show();
  return widget;
}

const row = (widget, name) => widget.page.locator('kith-widget .chat-row', { hasText: name });
const message = (widget, text) => widget.page.locator('kith-widget [data-message]', { hasText: text }).last();
const token = role => kith.command('token', '--site', SITE, '--user', 'owner', '--role', role);

/** Attaches a picture from the disk, with the button and the system's file dialog. */
async function attachPicture(widget) {
  const painted = await widget.page.evaluate(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 });
    const context = canvas.getContext('2d');
    context.fillStyle = '#2a9d8f';
    context.fillRect(0, 0, 640, 480);
    return canvas.toDataURL('image/png').split(',')[1];
  });
  const dialog = widget.page.waitForEvent('filechooser');
  await widget.page.getByRole('button', { name: 'Attach' }).click();
  await widget.page.getByRole('menuitem', { name: 'File' }).click();
  await (await dialog).setFiles([
    { name: 'beds.png', mimeType: 'image/png', buffer: Buffer.from(painted, 'base64') },
  ]);
  await widget.page.locator('kith-widget .attach-item[data-state="done"]').waitFor();
}

const focused = (page, selector) =>
  page.evaluate(
    selector => document.querySelector('kith-widget').shadowRoot.activeElement?.matches(selector) ?? false,
    selector,
  );

/** Presses Tab until the element has the focus, 30 times at most. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 30 && !(await focused(page, selector)); presses++)
    await page.keyboard.press('Tab');
  assert.ok(await focused(page, selector), `Tab leads to ${selector}`);
}

test('the snippet of `kith site add` works on a page of another origin', async () => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://owner');
    const [type, content] =
      pathname === '/kith-token'
        ? ['application/json', JSON.stringify({ token: signed(made.secret, { sub: 'ada', name: 'Ada' }) })]
        : ['text/html; charset=utf-8', pathname === '/' ? `<!doctype html><h1>A shop</h1>${made.embed}` : ''];
    response.writeHead(200, { 'content-type': type });
    response.end(content);
  });
  await new Promise(resolve => server.listen(0, 'localhost', resolve));
  const origin = `http://localhost:${server.address().port}`;
  const sites = await kith.metric('kith_chat_sites');
  const said = await kith.command(
    'site',
    'add',
    'shop',
    '--origin',
    origin,
    '--public-url',
    kith.url,
    '--json',
  );
  const made = JSON.parse(said);
  await until(async () => (await kith.metric('kith_chat_sites')) > sites, 'the node knows the shop');
  const context = await person(browser);
  const page = await context.newPage();
  await page.goto(origin);
  const widget = new Widget(page);
  await widget.show();
  await widget.tab('Me').click();
  await page.locator('kith-widget .profile-name, kith-widget .me').getByText('Ada').first().waitFor();
  assertNoTrouble(context);
  await context.close();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

/** Signs a token as docs/embed.md shows it. */
function signed(secret, claims) {
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...claims, exp })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

test('an afternoon', async t => {
  const nora = await comes('nora');
  const promoted = () =>
    kith.command('user', 'role', '--site', SITE, 'nora', 'moderator').then(
      () => true,
      () => false,
    );
  // A user exists after the first sign-in, and the page does not wait for it.
  await until(promoted, 'nora is a moderator');
  await nora.widget.page.reload();
  await nora.widget.show();
  const lena = await comes('lena');
  const omar = await comes('omar');
  const all = [nora, lena, omar];

  await t.test("the button has the owner's colour", async () => {
    await lena.widget.page.mouse.move(2, 2);
    const colour = () => lena.widget.launcher.evaluate(button => getComputedStyle(button).backgroundColor);
    await until(async () => (await colour()) === 'rgb(122, 31, 162)', 'it has faded from the hover colour');
  });

  await t.test('a room is made, and talked in', async () => {
    await lena.widget.createRoom('Plot holders');
    await lena.widget.say('Who has seen the **wheelbarrow**?');
    for (const { widget } of [omar, nora]) await widget.joinRoom('Plot holders');
    await omar.widget.say('Behind the shed');
    await lena.widget.sees('Behind the shed');
    await lena.widget.act('Behind the shed', '🎉', 'menuitemcheckbox');
    await omar.widget.page.locator('kith-widget .reaction').waitFor();
  });

  await t.test('a thread below a message, and a poll', async () => {
    const { page } = omar.widget;
    await omar.widget.act('Who has seen', 'Reply in thread');
    const reply = page.getByRole('textbox', { name: 'Reply in thread' });
    await reply.fill('It has a flat tyre, too');
    await reply.press('Enter');
    const replies = message(lena.widget, 'Who has seen').getByRole('button', { name: /1 reply/ });
    await replies.waitFor();
    await page.getByRole('button', { name: 'Back to room' }).click();
    await omar.widget.field.waitFor();

    const asking = lena.widget.page;
    await asking.getByRole('button', { name: 'Attach' }).click();
    await asking.getByRole('menuitem', { name: 'Poll' }).click();
    await asking.getByRole('textbox', { name: 'Question' }).fill('When do we dig?');
    await asking.getByRole('textbox', { name: 'Choice 1' }).fill('Saturday');
    await asking.getByRole('textbox', { name: 'Choice 2' }).fill('Sunday');
    await asking.getByRole('button', { name: 'Post poll' }).click();
    await page.getByRole('button', { name: 'Sunday 0 % 0 votes', exact: true }).click();
    await asking.getByRole('button', { name: 'Sunday 100 % 1 vote', exact: true }).waitFor();
  });

  await t.test('a picture and a voice message', async () => {
    await attachPicture(lena.widget);
    await lena.widget.say('The beds as they are now');
    await until(
      async () => (await omar.widget.page.locator('kith-widget .shot .picture.is-here').count()) === 1,
      'the picture is drawn',
    );
    const { page } = omar.widget;
    await page.getByRole('button', { name: 'Record a voice message' }).click();
    const recorder = page.getByRole('group', { name: 'Voice message' });
    await recorder.getByText(/0:01/).waitFor();
    await recorder.getByRole('button', { name: 'Send' }).click();
    await lena.widget.page.getByRole('button', { name: 'Play voice message' }).click();
    await lena.widget.page.getByRole('button', { name: 'Pause' }).waitFor();
    await assertAccessible(lena.widget.page, 'a room with a picture and a voice message');
  });

  await t.test('a stranger asks, is reported and banned', async () => {
    const vik = await comes('vik');
    await vik.widget.chatWith('lena of the host');
    await vik.widget.say('You all are fools');
    const { widget } = lena;
    await widget.back();
    await widget.tab('Chats').click();
    await widget.page.getByRole('radio', { name: /^Requests/ }).click();
    await row(widget, 'vik').locator('.row-main').click();
    await widget.page.getByRole('button', { name: 'Report' }).click();
    const form = widget.page.getByRole('dialog', { name: 'Report this message' });
    await form.getByRole('radio', { name: 'Insults or harassment' }).check();
    await form.getByRole('button', { name: 'Send report' }).click();
    await form.waitFor({ state: 'detached' });
    await widget.page.getByRole('button', { name: 'Delete' }).first().click();

    await nora.widget.back();
    await nora.widget.tab('Me').click();
    await nora.widget.page.getByRole('button', { name: /^Moderation/ }).click();
    const queue = nora.widget.page.getByRole('dialog', { name: 'Moderation' });
    const card = queue.locator('.report', { hasText: 'vik' });
    await card.getByRole('button', { name: /^Take action on vik/ }).click();
    await card.getByRole('combobox').first().selectOption('ban');
    await card.getByRole('textbox').fill('Insults');
    await card.getByRole('button', { name: 'Apply' }).click();
    await vik.widget.page.locator('kith-widget .banner', { hasText: 'Insults' }).waitFor();
    await nora.widget.page.keyboard.press('Escape');
    assertNoTrouble(vik.context);
    await vik.context.close();
  });

  await t.test('a message of before is found again', async () => {
    const { widget } = lena;
    await widget.tab('Chats').click();
    await widget.page.getByRole('button', { name: 'Search', exact: true }).click();
    const field = widget.page.getByRole('combobox', { name: 'Search people, rooms, messages' });
    const hit = widget.page.locator('kith-widget [role=option]', { hasText: 'Behind the shed' }).first();
    await until(async () => {
      await field.fill('she');
      await field.fill('shed');
      await widget.page.waitForTimeout(300);
      return (await hit.count()) > 0;
    }, 'the message is found');
    await field.press('Enter');
    await message(widget, 'Behind the shed').waitFor();
  });

  await t.test('on a second device all is the same, and read in one place is read in both', async () => {
    const second = await comes('omar');
    await row(second.widget, 'Plot holders').waitFor();
    await omar.widget.back();
    await omar.widget.tab('Chats').click();
    await lena.widget.say('Found it, thank you');
    await row(second.widget, 'Plot holders').getByText('Found it, thank you').waitFor();
    await until(async () => /1/.test(await second.widget.unread()), 'it is unread there');
    await row(omar.widget, 'Plot holders').locator('.row-main').click();
    await omar.widget.sees('Found it, thank you');
    await until(async () => !/\d/.test(await second.widget.unread()), 'it is read there, too');
    assertNoTrouble(second.context);
    await second.context.close();
  });

  await t.test(
    'who has closed the site is told by a push, and no more when it is read elsewhere',
    async () => {
      const away = await person(browser, DESKTOP);
      await takesPushes(away, pushes, host.origin);
      const there = await visit(away, 'omar');
      const { page } = there;
      await there.tab('Me').click();
      const here = page.getByRole('switch', { name: 'Notify me in this browser' });
      await here.click();
      await until(async () => (await here.getAttribute('aria-checked')) === 'true', 'it is on');
      for (const one of [page, omar.widget.page]) await one.close();

      await lena.widget.say('@omar the key is under the pot');
      const shown = await until(async () => {
        const all = await notices(away);
        return all.length > 0 && all;
      }, 'the notice is shown');
      assert.deepEqual(shown, [
        { title: 'Plot holders', body: 'lena of the host: @omar the key is under the pot', tag: 'kith #' },
      ]);
      const { headers } = pushes.pushed[0];
      assert.match(headers.authorization, /^vapid t=[\w.-]+, *k=[\w-]+$/);
      assert.equal(headers['content-encoding'], 'aes128gcm');

      const second = await comes('omar');
      await row(second.widget, 'Plot holders').locator('.row-main').click();
      await message(second.widget, 'the key is under the pot').waitFor();
      await until(async () => (await notices(away)).length === 0, 'the notice is gone');
      for (const context of [away, second.context]) {
        assertNoTrouble(context);
        await context.close();
      }
    },
  );

  await t.test('on a phone, dark, in Arabic', async () => {
    const phone = await person(browser, { ...PHONE, locale: 'ar', colorScheme: 'dark' });
    const page = await phone.newPage();
    await page.goto(`${host.origin}/?as=samira&lang=ar`);
    const widget = new Widget(page);
    await widget.show();
    await assertAccessible(page, 'the list on a phone, in Arabic');
    const inWidget = selector => page.locator(`kith-widget ${selector}`);
    await inWidget('#tab-rooms').tap();
    await inWidget('.room-row .row-main').filter({ hasText: 'Plot holders' }).tap();
    await page.getByRole('button', { name: 'انضمام' }).tap();
    await widget.field.tap();
    await page.keyboard.type('وصلت الشتلات');
    await page.getByRole('button', { name: 'إرسال' }).tap();
    await lena.widget.sees('وصلت الشتلات');
    await assertAccessible(page, 'a room on a phone, in Arabic');
    const look = await inWidget('.shell').evaluate(shell => [shell.dir, getComputedStyle(shell).colorScheme]);
    assert.deepEqual(look, ['rtl', 'dark']);
    assertNoTrouble(phone);
    await phone.close();
  });

  await t.test(
    'by keys alone: to the button, into the list, into the room, and back to the page',
    async () => {
      const context = await person(browser);
      const page = await context.newPage();
      await page.goto(`${host.origin}/?as=omar`);
      const widget = new Widget(page);
      await widget.launcher.waitFor();
      await tabTo(page, '.launcher');
      await page.keyboard.press('Enter');
      await widget.panel.waitFor();
      await row(widget, 'Plot holders').waitFor();
      await tabTo(page, '.chat-row .row-main');
      await page.keyboard.press('Enter');
      await widget.field.waitFor();
      await tabTo(page, '.composer-field');
      await page.keyboard.type('Written with keys');
      await page.keyboard.press('Enter');
      await lena.widget.sees('Written with keys');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await widget.panel.waitFor({ state: 'hidden' });
      assert.ok(await focused(page, '.launcher'), 'the focus is where one began');
      assertNoTrouble(context);
      await context.close();
    },
  );

  await t.test("the owner's server has it in the record", async () => {
    const headers = { authorization: `Bearer ${await token('service')}` };
    const audit = await (await fetch(`${kith.url}/v1/sites/${SITE}/audit`, { headers })).json();
    assert.match(JSON.stringify(audit), /"ban"/);
  });

  for (const { context } of all) {
    assertNoTrouble(context);
    await context.close();
  }
});
