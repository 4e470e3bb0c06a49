// A site where only contacts can write to each other: contact requests, acceptance, removal, blocks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, launch, person, until } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
let host;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  host = await hostPage(kith, 'circle');
  await kith.addSite('circle', '--mode', 'contacts', '--origin', host.origin);
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
});

async function both(one, two, run) {
  const contexts = await Promise.all([person(browser), person(browser)]);
  const widgets = [];
  for (const [i, user] of [one, two].entries()) {
    const page = await contexts[i].newPage();
    await page.goto(`${host.origin}/?as=${user}`);
    const widget = new Widget(page);
    await widget.show();
    await until(
      () => page.evaluate(async () => (await globalThis.Kith.client()).status().state === 'online'),
      `${user} is online`,
    );
    widgets.push(widget);
  }
  await run(...widgets);
  for (const context of contexts) {
    assertNoTrouble(context);
    await context.close();
  }
}

test('after a contact request is accepted, both write and see each other online', async () => {
  await both('lea', 'max', async (lea, max) => {
    await lea.tab('Contacts').click();
    await lea.page.getByRole('textbox', { name: 'Search people' }).fill('max');
    await lea.page.locator('kith-widget .person-row .row-main', { hasText: 'max of the host' }).click();
    await lea.page.getByText('max of the host is not in your contacts').waitFor();
    assert.equal(await lea.field.count(), 0, 'there is nothing to write into');
    await assertAccessible(lea.page, 'a stranger');
    await lea.page.getByRole('button', { name: 'Add to contacts' }).click();
    await lea.page.getByText('You sent max of the host a contact request').waitFor();

    await max
      .tab(/Contacts/)
      .getByText('1 request')
      .waitFor({ state: 'attached' });
    await max.tab(/Contacts/).click();
    await assertAccessible(max.page, 'a request');
    await max.page.getByRole('button', { name: 'Accept' }).click();
    await lea.field.waitFor();
    await until(async () => (await lea.presence()) === 'Online', 'they see each other');
    await lea.say('Thank you!');
    await lea.becomes('Thank you!', 'received');
    await max.tab(/Chats/).click();
    await max.page.locator('kith-widget .chat-row', { hasText: 'Thank you!' }).locator('.row-main').click();
    await max.say('My pleasure');
    await lea.sees('My pleasure');

    await max.page
      .getByRole('button', { name: /^Actions for/ })
      .last()
      .click();
    await max.page.getByRole('menuitem', { name: 'Block' }).click();
    await max.page.getByRole('alertdialog').getByRole('button', { name: 'Block' }).click();
    await max.page.getByText('You blocked lea of the host').waitFor();
    assert.equal(await max.field.count(), 0);
    if ((await lea.field.count()) > 0) {
      await lea.say('Hello?');
      await lea.becomes('Hello?', 'failed');
      await lea.page.getByText('You cannot message this person.').waitFor();
    }
    assert.ok(!(await max.texts()).includes('Hello?'));
  });
});

test('a declined request is gone, and the other one is not told', async () => {
  await both('nina', 'otto', async (nina, otto) => {
    await nina.tab('Contacts').click();
    await nina.page.getByRole('textbox', { name: 'Search people' }).fill('otto');
    await nina.page.locator('kith-widget .person-row .row-main', { hasText: 'otto' }).click();
    await nina.page.getByRole('button', { name: 'Add to contacts' }).click();
    await otto.tab(/Contacts/).click();
    await otto.page.getByRole('button', { name: 'Decline' }).click();
    await until(
      async () => (await otto.page.locator('kith-widget .request-row').count()) === 0,
      'the request goes',
    );
    assert.equal(await nina.page.getByText('You sent otto of the host a contact request').count(), 1);
  });
});

test('contacts are seen coming and going without being asked for by name', async () => {
  const said = [];
  const changeContact = (widget, action, user) =>
    widget.page.evaluate(
      async ([action, user]) => (await globalThis.Kith.client()).changeContact(action, user),
      [action, user],
    );
  await both('rita', 'sven', async (rita, sven) => {
    rita.page.on('websocket', socket => socket.on('framesent', ({ payload }) => said.push(String(payload))));
    await rita.page.reload();
    await rita.show();
    await rita.tab('Contacts').click();
    await changeContact(rita, 'request', 'sven');
    await changeContact(sven, 'accept', 'rita');
    const online = rita.page.locator('kith-widget .section-title', { hasText: 'Online now' });
    await online.waitFor();
    await sven.tab('Me').click();
    await sven.page.getByRole('radio', { name: /^Invisible/ }).click();
    await online.waitFor({ state: 'detached' });
    await sven.page.getByRole('radio', { name: /^Online/ }).click();
    await online.waitFor();
    await changeContact(sven, 'remove', 'rita');
    await online.waitFor({ state: 'detached' });
  });
  const watches = said.map(frame => JSON.parse(frame)).filter(({ t }) => t === 'watch');
  assert.ok(watches.length > 0 && watches.every(one => one.contacts));
});
