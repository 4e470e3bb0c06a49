// Apps of a member: an app password made in the widget signs an XMPP client in until it is revoked, and the picture that an app publishes is
// shown in the widget.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, shot, until } from './browser.mjs';
import { freePort, Kith } from './kith.mjs';
import { asMembers } from './widget.mjs';
import { XmppClient } from './xmpp.mjs';

let browser;
let kith;
let port;
before(async () => {
  port = await freePort();
  const xmpp = { KITH_XMPP_LISTEN: `127.0.0.1:${port}`, KITH_XMPP_ALLOW_PLAIN: 'true' };
  [browser, kith] = await Promise.all([launch(), Kith.start(xmpp)]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

const entry = page => page.getByRole('button', { name: /^Apps/ });
const sheet = page => page.getByRole('dialog', { name: 'Apps' });

async function openApps(widget) {
  const { page } = widget;
  await widget.tab('Me').click();
  await entry(page).click();
  await sheet(page).getByRole('heading', { name: 'App passwords' }).waitFor();
}

/** Makes a password, and returns the address and the password as the member reads them. */
async function make(page, name) {
  await sheet(page).getByRole('textbox', { name: 'Name' }).fill(name);
  await sheet(page).getByRole('button', { name: 'Create password' }).click();
  await sheet(page)
    .getByRole('heading', { name: `Password for ${name}` })
    .waitFor();
  const read = at => page.locator(`kith-widget ${at}`).first().textContent();
  return { address: await read('.copy-value'), password: await read('.copy-large .copy-value') };
}

test('a password made in the widget signs an app in, messages go both ways, and revoking it ends the app', async () => {
  await asMembers(browser, kith, ['anna', 'tom'], async (anna, tom, context) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: kith.url });
    await openApps(anna);
    await assertAccessible(anna.page, 'apps');
    const { address, password } = await make(anna.page, 'Dino');
    assert.equal(address, 'anna@demo');
    assert.match(password, /^(?:[a-z0-9]{5}-){4}[a-z0-9]{5}$/);
    await assertAccessible(anna.page, 'a new password');
    await anna.page.getByRole('button', { name: 'Copy password' }).click();
    await anna.page.locator('kith-widget .app-shown .icon-check').waitFor();
    assert.equal(await anna.page.evaluate(() => navigator.clipboard.readText()), password);

    const app = await XmppClient.signIn(port, address, password);
    assert.equal(app.failure, undefined);
    await anna.page.keyboard.press('Escape');
    assert.equal(await sheet(anna.page).count(), 0);
    await entry(anna.page).click();
    await anna.page.getByText('connected now').waitFor();
    assert.equal(await anna.page.getByText(password).count(), 0, 'it is shown once');

    await tom.chatWith('Anna');
    app.say('tom@demo', 'Hello from an app');
    await tom.sees('Hello from an app');
    await tom.say('Hello from the widget');
    await app.gets(/<body>Hello from the widget<\/body>/);

    await anna.page.getByRole('button', { name: 'Revoke Dino' }).click();
    const question = anna.page.getByRole('alertdialog');
    await question.getByText('signed out at once').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(app.isClosed, false);
    await anna.page.getByRole('button', { name: 'Revoke Dino' }).click();
    await question.getByRole('button', { name: 'Revoke' }).click();
    await until(() => app.isClosed, 'the app is signed out');
    await anna.page.getByRole('button', { name: 'Revoke Dino' }).waitFor({ state: 'detached' });
    const again = await XmppClient.signIn(port, address, password);
    assert.equal(again.failure, 'not-authorized');
    again.end();
  });
});

/** The base64 of a PNG, 300 pixels wide and high. */
const png = (page, colour) =>
  page.evaluate(fill => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 300 });
    const pen = canvas.getContext('2d');
    Object.assign(pen, { fillStyle: fill }).fillRect(0, 0, 300, 300);
    Object.assign(pen, { fillStyle: 'white' }).fillRect(90, 90, 120, 120);
    return canvas.toDataURL('image/png').split(',')[1];
  }, colour);

/** Publishes an avatar (XEP-0084). Without data: removes it. */
async function publishAvatar(app, data) {
  const id = data ? createHash('sha1').update(Buffer.from(data, 'base64')).digest('hex') : 'none';
  const item = (node, payload) =>
    `<iq type='set' id='${node}-${id}'><pubsub xmlns='http://jabber.org/protocol/pubsub'>` +
    `<publish node='urn:xmpp:avatar:${node}'><item id='${id}'>${payload}</item></publish></pubsub></iq>`;
  const info = `<info id='${id}' type='image/png' bytes='${Buffer.from(data ?? '', 'base64').length}'/>`;
  if (data) app.send(item('data', `<data xmlns='urn:xmpp:avatar:data'>${data}</data>`));
  app.send(item('metadata', `<metadata xmlns='urn:xmpp:avatar:metadata'>${data ? info : ''}</metadata>`));
  await app.gets(new RegExp(`<iq(?=[^>]* id=["']metadata-${id}["'])[^>]*>`));
}

test('a picture that an app publishes is shown in the widget of others until the app removes it', async () => {
  await kith.setSite('demo', 'members.pictures=prefer');
  await asMembers(browser, kith, ['anna', 'tom'], async (anna, tom) => {
    await openApps(anna);
    const { address, password } = await make(anna.page, 'Gajim');
    const app = await XmppClient.signIn(port, address, password);
    await tom.chatWith('Anna');
    const face = tom.page.locator('kith-widget .chat-bar .avatar-image').first();
    const shown = wanted => async () => {
      const [src, width] = await face.evaluate(image => [image.src, image.complete && image.naturalWidth]);
      return wanted.test(src) && width > 0 && { src, width };
    };
    await until(shown(/\/demo\/avatar\/anna/), 'the picture of the site');

    await publishAvatar(app, await png(tom.page, 'teal'));
    const first = await until(shown(/\/v1\/pictures\//), 'the picture of the app');
    assert.equal(first.width, 256, 'it was encoded anew');
    assert.equal(new URL(first.src).origin, kith.url);
    const answer = await fetch(first.src);
    assert.equal(answer.headers.get('content-type'), 'image/png');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    await publishAvatar(app, await png(tom.page, 'crimson'));
    await until(async () => {
      const now = await shown(/\/v1\/pictures\//)();
      return now && now.src !== first.src;
    }, 'another picture has another address');
    await shot(tom.page, 'own_picture');

    await publishAvatar(app, undefined);
    await until(shown(/\/demo\/avatar\/anna/), 'the picture of the site again');
    assert.equal((await fetch(first.src)).status, 404);
    app.end();
  });
  await kith.setSite('demo', 'members.pictures=fallback');
});

test('on a phone, by keyboard: the password has the focus once it is made', async () => {
  const options = { ...PHONE, colorScheme: 'dark' };
  await asMembers(
    browser,
    kith,
    ['mei'],
    async mei => {
      await openApps(mei);
      assert.equal(
        await mei.page.getByRole('img', { name: /QR code/ }).count(),
        0,
        'a phone cannot scan itself',
      );
      const name = sheet(mei.page).getByRole('textbox', { name: 'Name' });
      await name.fill('Conversations');
      await name.press('Enter');
      const focused = () =>
        mei.page.evaluate(() => {
          const { activeElement } = document.querySelector('kith-widget').shadowRoot;
          return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent;
        });
      await until(async () => (await focused()) === 'Password for Conversations', 'its title has the focus');
      await mei.page.keyboard.press('Tab');
      assert.equal(await focused(), 'Copy password');
      await assertAccessible(mei.page, 'a new password on a phone');
    },
    options,
  );
});

test('a site that has disabled XMPP has no entry for apps', async () => {
  await kith.setSite('demo', 'xmpp.enabled=false');
  await asMembers(browser, kith, ['raj'], async raj => {
    await raj.tab('Me').click();
    await raj.page.getByRole('button', { name: /^Your data/ }).waitFor();
    assert.equal(await entry(raj.page).count(), 0);
  });
  await kith.setSite('demo', 'xmpp.enabled=true');
});
