// Apps of a member: an app password made in the widget signs an XMPP client in until it is revoked.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, until } from './browser.mjs';
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
