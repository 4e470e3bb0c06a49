// Invite links of rooms through a real server: created, opened, used up, revoked, expired.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, launch, PHONE, person, until } from './browser.mjs';
import { hostPage } from './host_page.mjs';
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

const as = (...asked) => asMembers(browser, kith, ...asked);
const button = (widget, name) => widget.page.getByRole('button', { name, exact: true });
const card = widget => widget.page.getByRole('dialog', { name: 'Invitation', exact: true });
const over = widget => widget.page.getByRole('dialog', { name: 'This invitation is no longer valid' });
const rows = widget => widget.page.locator('kith-widget .invitation-list li');

/** Opens the invite links of a room from its chat. */
async function links(widget) {
  await widget.page.locator('kith-widget .room-head').click();
  await button(widget, 'Invite by link').click();
  await button(widget, 'Create link').waitFor();
}

/** Creates a link, and returns its address. */
async function make(widget, { days = '7 days', people = 'No limit' } = {}) {
  const before = await rows(widget).count();
  await widget.page.getByRole('combobox', { name: 'Expires after' }).selectOption(days);
  await widget.page.getByRole('combobox', { name: 'Maximum uses' }).selectOption(people);
  await button(widget, 'Create link').click();
  await until(async () => (await rows(widget).count()) === before + 1, 'the link is there');
  return rows(widget).first().getByRole('textbox', { name: 'Link' }).inputValue();
}

/** Opens a page of `member` with a link that another member has created. */
async function follow(widget, member, link) {
  await widget.page.goto('about:blank');
  await widget.page.goto(`${kith.url}/as/${member}/?from=mail${new URL(link).hash}`);
}

/** Carries out an action of the owner on a member, in the list of members. */
async function withMember(widget, name, action) {
  await widget.page.locator('kith-widget .room-row .row-main', { hasText: name }).first().click();
  await widget.page.getByRole('menuitem', { name: action, exact: true }).click();
}

test('a link to a private room is made and copied, and admits another member', async () => {
  await as(['anna', 'raj'], async (anna, raj, context) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await anna.createRoom('Winter tour', 'Private room');
    await anna.say('Who comes along?');
    await links(anna);
    await anna.page.getByText('No active links.').waitFor();
    const link = await make(anna);
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/as\/anna\/#kith=join\.[\w-]{22}$/);
    await rows(anna).first().getByText('not used yet').waitFor();
    await assertAccessible(anna.page, 'the links of a room');
    await button(anna, 'Copy link').click();
    await button(anna, 'Link copied').waitFor();
    assert.equal(await anna.page.evaluate(() => navigator.clipboard.readText()), link);

    await follow(raj, 'raj', link);
    await card(raj).waitFor();
    for (const text of ['Winter tour', 'Private room · 1 member', 'Anna Lindqvist invited you'])
      await card(raj).getByText(text).waitFor();
    assert.equal(
      await raj.page.evaluate(() => location.pathname + location.search + location.hash),
      '/as/raj/?from=mail',
    );
    await assertAccessible(raj.page, 'an invitation');
    await button(raj, 'Join').click();
    await raj.sees('Who comes along?');
    await raj.say('I do, by whatever road');
    await button(anna, 'Back to chat').click();
    await button(anna, 'Back to chat').click();
    await anna.sees('I do, by whatever road');

    // For a member of the room the link opens the room on the current page, and counts no use.
    await raj.back();
    for (let time = 0; time < 2; time++) {
      await raj.page.evaluate(hash => {
        location.hash = hash;
      }, new URL(link).hash);
      await raj.sees('Who comes along?');
      assert.equal(await raj.page.evaluate(() => location.hash), '');
      await raj.back();
    }
    assert.equal(await card(raj).count(), 0);
    await links(anna);
    await rows(anna).first().getByText('1 person joined').waitFor();
  });
});

test('a declined invitation joins nobody; a link for one use admits one member', async () => {
  await as(['ingrid', 'tom', 'mei'], async (ingrid, tom, mei) => {
    await ingrid.createRoom('Tandem', 'Private room');
    await links(ingrid);
    const link = await make(ingrid, { days: '1 day', people: '1 person' });
    await rows(ingrid).first().getByText('0 of 1 joined').waitFor();
    await follow(mei, 'mei', link);
    await card(mei).waitFor();
    await button(mei, 'Not now').click();
    await card(mei).waitFor({ state: 'detached' });
    await mei.tab('Chats').click();
    assert.equal(await mei.page.locator('kith-widget .chat-row', { hasText: 'Tandem' }).count(), 0);

    await follow(mei, 'mei', link);
    await card(mei).waitFor();
    await follow(tom, 'tom', link);
    await button(tom, 'Join').click();
    await tom.field.waitFor();
    await tom.say('Where is my seat?');
    // The last use was taken while the card was open.
    await button(mei, 'Join').click();
    await over(mei).waitFor();
    await mei.page.getByText('Ask for a new link.').waitFor();
    await assertAccessible(mei.page, 'an invitation that holds no longer');
    await button(mei, 'OK').click();
    await over(mei).waitFor({ state: 'detached' });
  });
});

test('a revoked link, or one whose maker has left, admits nobody; a banned user sees the reason', async () => {
  await as(['sofia', 'yusuf', 'amara'], async (sofia, yusuf, amara) => {
    await sofia.createRoom('Lake riders');
    await links(sofia);
    const own = await make(sofia);
    const standing = await make(sofia, { days: '1 year', people: '100 people' });
    await rows(sofia).nth(1).getByRole('button', { name: 'Revoke' }).click();
    await sofia.page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await until(async () => (await rows(sofia).count()) === 1, 'one is left');
    assert.equal(await rows(sofia).first().getByRole('textbox').inputValue(), standing);
    await follow(amara, 'amara', own);
    await over(amara).waitFor();

    // A plain member of an open room can create links too, and sees no other ones.
    await yusuf.joinRoom('Lake riders');
    await links(yusuf);
    await yusuf.page.getByText('No active links.').waitFor();
    const theirs = await make(yusuf);
    await button(sofia, 'Back to chat').click();
    await button(sofia, 'Invite by link').click();
    await until(async () => (await rows(sofia).count()) === 2, 'who keeps order sees all');
    await rows(sofia)
      .first()
      .getByText(/^Created by Yusuf/)
      .waitFor();
    await button(sofia, 'Back to chat').click();
    await withMember(sofia, 'Yusuf', 'Remove from room');
    await until(async () => {
      await follow(amara, 'amara', theirs);
      await card(amara).or(over(amara)).waitFor();
      return (await over(amara).count()) === 1;
    }, 'their link has ended');

    await follow(amara, 'amara', standing);
    await button(amara, 'Join').click();
    await amara.field.waitFor();
    await button(sofia, 'Back to chat').click();
    await sofia.page.locator('kith-widget .room-head').click();
    await withMember(sofia, 'Amara', 'Ban from room');
    await sofia.page
      .getByRole('dialog', { name: /^Ban Amara/ })
      .getByRole('button', { name: 'Ban from room' })
      .click();
    await amara.page
      .getByText(/banned from the room/)
      .first()
      .waitFor({ state: 'attached' });
    await follow(amara, 'amara', standing);
    await card(amara).getByText('You are banned from this room.').waitFor();
    await assertAccessible(amara.page, 'an invitation that is refused');
  });
});

test('if the site requires it, only owners and moderators make links', async () => {
  await kith.setSite('demo', 'invitations.moderators_only=true');
  await as(['anna', 'raj'], async (anna, raj) => {
    await anna.createRoom('Quiet corner');
    await raj.joinRoom('Quiet corner');
    await links(raj);
    await button(raj, 'Create link').click();
    await raj.page.getByText('Only owners and moderators can create links here.').waitFor();
    await links(anna);
    await make(anna);
  });
  await kith.setSite('demo', 'invitations.moderators_only=false');
});

test('by keys alone: made, followed, joined', async () => {
  await as(['mei', 'tom'], async (mei, tom) => {
    await mei.createRoom('Keys', 'Private room');
    await mei.page.locator('kith-widget .room-head').focus();
    await mei.page.keyboard.press('Enter');
    const hasFocus = page =>
      page.evaluate(() => {
        const { activeElement: one } = document.querySelector('kith-widget').shadowRoot;
        return one?.getAttribute('aria-label') ?? one?.textContent;
      });
    const reach = async (page, name) => {
      for (let at = 0; at < 30; at++) {
        if ((await hasFocus(page)) === name) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`${name} is out of reach`);
    };
    await button(mei, 'Invite by link').waitFor();
    await reach(mei.page, 'Invite by link');
    await mei.page.keyboard.press('Enter');
    await button(mei, 'Create link').waitFor();
    await reach(mei.page, 'Create link');
    await mei.page.keyboard.press('Enter');
    // The focus is on the button that copies the link.
    await until(async () => (await rows(mei).count()) === 1, 'the link is there');
    await until(async () => (await hasFocus(mei.page)) === 'Copy link', 'the link is at hand');
    await mei.page.keyboard.press('Shift+Tab');
    const link = await mei.page.evaluate(
      () => document.querySelector('kith-widget').shadowRoot.activeElement.value,
    );
    assert.match(link, /#kith=join\./);

    await follow(tom, 'tom', link);
    await card(tom).waitFor();
    await reach(tom.page, 'Join');
    await tom.page.keyboard.press('Enter');
    await tom.field.waitFor();
    await tom.page.keyboard.type('By keys');
    await tom.page.keyboard.press('Enter');
    await tom.becomes('By keys', 'sent');

    await reach(mei.page, 'Revoke');
    await mei.page.keyboard.press('Enter');
    await mei.page.getByRole('alertdialog').waitFor();
    await reach(mei.page, 'Revoke');
    await mei.page.keyboard.press('Enter');
    await mei.page.getByText('No active links.').waitFor();
    await mei.page.keyboard.press('Escape');
    await button(mei, 'Invite by link').waitFor();
  });
});

test('on a phone, in Arabic, it fits; Back closes the messenger and does not ask again', async () => {
  await as(['anna'], async anna => {
    await anna.createRoom('Everywhere');
    await links(anna);
    const link = await make(anna);
    const phone = await person(browser, { ...PHONE, locale: 'ar' });
    await phone.addInitScript(() => {
      new MutationObserver(() => {
        document.documentElement.lang = 'ar';
        document.documentElement.dir = 'rtl';
      }).observe(document, { childList: true });
    });
    const mei = new Widget(await phone.newPage());
    await mei.page.goto(`${kith.url}/as/mei/`);
    await follow(mei, 'mei', link);
    const sheet = mei.page.getByRole('dialog', { name: 'دعوة', exact: true });
    await sheet.getByText('Anna Lindqvist يدعوك').waitFor();
    await assertAccessible(mei.page, 'an invitation on a phone, in Arabic');
    const wide = () => mei.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(await wide(), false);
    await mei.page.goBack();
    await mei.panel.waitFor({ state: 'detached' });
    assert.equal(await mei.page.evaluate(() => location.hash), '');
    await mei.show();
    assert.equal(await sheet.count(), 0);

    await follow(mei, 'mei', link);
    await sheet.getByRole('button', { name: 'انضمام' }).click();
    await mei.field.waitFor();
    await mei.page.locator('kith-widget .room-head').click();
    await mei.page.getByRole('button', { name: 'دعوة برابط' }).click();
    await mei.page.getByRole('button', { name: 'إنشاء رابط' }).click();
    await until(async () => (await rows(mei).count()) === 1, 'the link is there');
    await assertAccessible(mei.page, 'the links of a room on a phone, in Arabic');
    assert.equal(await wide(), false);
    assertNoTrouble(phone);
    await phone.close();
  });
});

test('a guest comes into an open room by a link', async () => {
  await as(['raj'], async raj => {
    await raj.createRoom('Open house');
    await links(raj);
    const link = await make(raj);
    const context = await person(browser);
    const guest = new Widget(await context.newPage());
    await guest.page.goto(`${kith.url}/visit/${new URL(link).hash}`);
    await card(guest).getByText('Raj Patel invited you').waitFor();
    await button(guest, 'Join').click();
    await guest.field.waitFor();
    await guest.say('Just looking around');
    await button(raj, 'Back to chat').click();
    await button(raj, 'Back to chat').click();
    await raj.sees('Just looking around');
    assertNoTrouble(context);
    await context.close();
  });
});

test('on a site without guests the invitation waits for the sign-in', async () => {
  const host = await hostPage(kith, 'club');
  await kith.addSite('club', '--origin', host.origin);
  const context = await person(browser);
  const owner = new Widget(await context.newPage());
  await owner.page.goto(`${host.origin}/?as=ann`);
  await owner.show();
  await owner.createRoom('Committee', 'Private room');
  await links(owner);
  const { hash } = new URL(await make(owner));

  let signedIn = false;
  const other = await person(browser);
  const page = await other.newPage();
  const guest = new Widget(page);
  await page.route('**/token?*', route => (signedIn ? route.continue() : route.fulfill({ status: 204 })));
  await page.goto(`${host.origin}/?as=bob${hash}`);
  await card(guest).getByText('Sign in to this site to open the invitation.').waitFor();
  assert.equal(await page.evaluate(() => location.hash), '');
  await assertAccessible(page, 'an invitation before one has signed in');
  await button(guest, 'OK').click();

  // The sign-in page shows no invitation, because nobody is signed in yet. The page after it shows the invitation.
  await page.goto(`${host.origin}/?as=bob&page=sign-in`);
  await guest.launcher.waitFor();
  signedIn = true;
  await page.goto(`${host.origin}/?as=bob&page=home#news`);
  await card(guest).getByText('ann of the host invited you').waitFor();
  assert.equal(await page.evaluate(() => location.hash), '#news', "the page's own");
  await button(guest, 'Join').click();
  await guest.field.waitFor();
  await page.reload();
  await guest.launcher.waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('kith:invitation')), null);

  // The invitation also appears after a sign-in without a change of the page.
  const last = await person(browser);
  const third = new Widget(await last.newPage());
  await third.page.route('**/token?*', route => route.fulfill({ status: 204 }));
  await third.page.goto(`${host.origin}/?as=eve${hash}`);
  await card(third).getByText('Sign in to this site').waitFor();
  const token = await kith.command('token', '--site', 'club', '--user', 'eve', '--name', 'Eve');
  await third.page.evaluate(one => window.Kith.setToken(one), token);
  await card(third).getByText('ann of the host invited you').waitFor();
  for (const one of [context, other, last]) {
    assertNoTrouble(one);
    await one.close();
  }
  await host.close();
});
