// Names of people: a member's own names for contacts, and nicknames in rooms, with an XMPP app beside the widget.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, launch, PHONE, person, shot, until } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { freePort, Kith } from './kith.mjs';
import { asMembers, Widget } from './widget.mjs';
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

const dialog = (page, name) => page.getByRole('dialog', { name });

async function app(member) {
  const said = await kith.command('user', 'set-password', '--site', 'demo', member, '--name', 'App');
  const [, password] = /password (\S+)/.exec(said);
  const client = await XmppClient.signIn(port, `${member}@demo`, password);
  assert.equal(client.failure, undefined);
  return client;
}

/** Makes them contacts, by the SDK of the pages. */
async function befriend(one, other, [first, second]) {
  const act = (widget, action, user) =>
    widget.page.evaluate(
      async ([what, whom]) => (await globalThis.Kith.client()).changeContact(what, whom),
      [action, user],
    );
  await act(one, 'remove', second);
  await act(one, 'request', second);
  await act(other, 'request', first);
}

const openProfile = async widget => {
  await widget.page.locator('kith-widget .chat-face').click();
  await dialog(widget.page, 'Profile').waitFor();
};

test('a name for a contact is shown to its member alone, in all tabs and in apps', async () => {
  await asMembers(browser, kith, ['anna', 'tom'], async (anna, tom, context) => {
    await befriend(anna, tom, ['anna', 'tom']);
    const phone = await app('anna');
    phone.send(`<iq type='get' id='roster'><query xmlns='jabber:iq:roster'/></iq>`);
    await phone.gets(/id=["']roster["']/);
    const second = await Widget.of(context, kith, 'anna');
    await anna.chatWith('Tom');
    await tom.chatWith('Anna');
    const head = widget => widget.page.locator('kith-widget .chat-bar .chat-name').first().textContent();
    const displayName = await head(anna);

    await openProfile(anna);
    await dialog(anna.page, 'Profile').getByRole('button', { name: 'Name this contact' }).click();
    const sheet = dialog(anna.page, 'Name for this contact');
    await sheet.getByRole('textbox').fill('Uncle Tom');
    await assertAccessible(anna.page, 'a name for a contact');
    await shot(anna.page, 'own_name_form');
    await sheet.getByRole('textbox').press('Enter');
    await until(async () => (await head(anna)) === 'Uncle Tom', 'the head has the own name');
    await phone.gets(
      /<item(?=[^>]* name=["']Uncle Tom["'])[^>]*jid=["']tom@demo["']|jid=["']tom@demo["'][^>]*Uncle Tom/,
    );

    // The other tab, the lists, and the search by both names.
    await second.tab('Contacts').click();
    await second.page.locator('kith-widget .person-row', { hasText: 'Uncle Tom' }).first().waitFor();
    const search = second.page.getByRole('textbox', { name: 'Search people' });
    for (const words of ['uncle', displayName]) {
      await search.fill(words);
      await second.page.locator('kith-widget .person-row', { hasText: 'Uncle Tom' }).first().waitFor();
    }
    await shot(second.page, 'own_name_list');
    await openProfile(anna);
    const profile = dialog(anna.page, 'Profile');
    assert.equal(await profile.locator('.profile-name').textContent(), 'Uncle Tom');
    await profile.getByText(displayName, { exact: true }).waitFor();
    await assertAccessible(anna.page, 'a profile with an own name');
    await shot(anna.page, 'own_name_profile');
    await anna.page.keyboard.press('Escape');

    // Tom sees nothing of it, also not in a message that mentions or forwards.
    await anna.say('Hello');
    await tom.sees('Hello');
    assert.equal(
      (await tom.page.locator('kith-widget').evaluate(one => one.shadowRoot.textContent)).includes('Uncle'),
      false,
    );

    // Changed by the app, it reaches the widget at once; removed in the widget, the display name is back.
    phone.send(
      `<iq type='set' id='n1'><query xmlns='jabber:iq:roster'><item jid='tom@demo' name='Tommy'/></query></iq>`,
    );
    await until(async () => (await head(anna)) === 'Tommy', 'the name that the app has set');
    await openProfile(anna);
    await profile.getByRole('button', { name: 'Change name' }).click();
    await sheet.getByRole('button', { name: 'Remove name' }).click();
    await until(async () => (await head(anna)) === displayName, 'the display name again');
    phone.end();
  });
});

test('a nickname is set in a room, shown to its members, and the same in apps', async () => {
  await asMembers(browser, kith, ['anna', 'tom'], async (anna, tom) => {
    const id = await anna.page.evaluate(async () => {
      const client = await globalThis.Kith.client();
      return client.createRoom({ name: 'Night riders', kind: 'public' });
    });
    assert.ok(id);
    const open = async widget => {
      await widget.tab('Rooms').click();
      await widget.page
        .locator('kith-widget .room-row .row-main', { hasText: 'Night riders' })
        .first()
        .click();
      const join = widget.page.getByRole('button', { name: /^Join/ });
      if (await join.isVisible().catch(() => false)) await join.click();
      await widget.field.waitFor();
    };
    await open(anna);
    await open(tom);
    await tom.say('Who rides tonight?');
    await anna.sees('Who rides tonight?');

    await tom.page.locator('kith-widget .room-head').click();
    await tom.page.getByRole('button', { name: /^You appear here as/ }).click();
    const sheet = dialog(tom.page, 'Nickname');
    await sheet.getByRole('textbox').fill('Road runner');
    await assertAccessible(tom.page, 'a nickname');
    await shot(tom.page, 'nickname_form');
    await sheet.getByRole('button', { name: 'Save' }).click();
    await tom.page.getByRole('button', { name: 'You appear here as Road runner' }).waitFor();
    await assertAccessible(tom.page, 'a room with nicknames');
    await shot(tom.page, 'nickname_about');

    const author = () => anna.page.locator('kith-widget .sender-name').first().textContent();
    await until(async () => (await author()) === 'Road runner', 'Anna sees the nickname');
    await shot(anna.page, 'nickname_chat');
    await anna.page.locator('kith-widget .room-head').click();
    await anna.page.locator('kith-widget .room-row', { hasText: 'Road runner' }).getByText(/Tom/).waitFor();
    await anna.page.getByRole('button', { name: /^You appear here as/ }).click();
    const taken = dialog(anna.page, 'Nickname');
    await taken.getByRole('textbox').fill('road RUNNER');
    await taken.getByRole('button', { name: 'Save' }).click();
    await taken.getByText('Choose a different one').waitFor();
    await anna.page.keyboard.press('Escape');

    // An app of Tom enters under the nickname that the widget has set, and changes it.
    const phone = await app('tom');
    phone.send(
      `<iq type='get' id='b' to='tom@demo'><pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:bookmarks:1'/></pubsub></iq>`,
    );
    const [, bookmark] = await phone.gets(/id=["'](\d+@rooms\.demo)["'](?:(?!<\/item>).)*Road runner/s);
    phone.send(`<presence to='${bookmark}/Roadster'><x xmlns='http://jabber.org/protocol/muc'/></presence>`);
    await phone.gets(/Roadster/);
    await anna.page.getByRole('button', { name: 'Back to chat' }).click();
    await until(async () => (await author()) === 'Roadster', 'Anna sees the nickname of the app');
    phone.end();
  });
});

test('an own name on a dark phone, and from right to left', async () => {
  const host = await hostPage(kith, 'lounge');
  await kith.addSite('lounge', '--origin', host.origin);
  const looks = { phone: ['en', { ...PHONE, colorScheme: 'dark' }], arabic: ['ar', PHONE] };
  for (const [look, [lang, options]] of Object.entries(looks)) {
    const context = await person(browser, options);
    const users = [`lea-${look}`, `max-${look}`];
    const widgets = [];
    for (const user of users) {
      const page = await context.newPage();
      await page.goto(`${host.origin}/?as=${user}&lang=${lang}`);
      const isOnline = async () => (await globalThis.Kith.client()).status().state === 'online';
      await until(() => page.evaluate(isOnline), `${user} is online`);
      widgets.push(new Widget(page));
    }
    const [lea] = widgets;
    await befriend(...widgets, users);
    await lea.page.evaluate(user => globalThis.Kith.open(user), users[1]);
    const inside = selector => lea.page.locator(`kith-widget ${selector}`);
    await inside('.chat-face').click();
    await inside('.choices .choice:has(.icon-edit)').click();
    await inside('.sheet-form input').fill(lang === 'ar' ? 'صديق الشاي' : 'Tea friend');
    await assertAccessible(lea.page, `a name for a contact: ${look}`);
    await shot(lea.page, `own_name_form_${look}`);
    await inside('.sheet-form [type=submit]').click();
    await inside('.sheet-form').waitFor({ state: 'detached' });
    await inside('.chat-face').click();
    await inside('.profile-name + .profile-hint', { hasText: users[1] }).waitFor();
    await assertAccessible(lea.page, `a profile with an own name: ${look}`);
    await shot(lea.page, `own_name_profile_${look}`);
    assertNoTrouble(context);
    await context.close();
  }
  await host.close();
});
