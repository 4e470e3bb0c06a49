// A list that the server could not read: each look shows an error with a Retry button, and the list after a retry.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertNoTrouble, DESKTOP, launch, PHONE, person, shot } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

/** The host's page has no viewport tag, so a mobile browser would lay it out as wide as a desktop. */
const NARROW = { ...PHONE, isMobile: false };

const LOOKS = {
  desktop: { lang: 'en', options: DESKTOP },
  phone: { lang: 'en', options: NARROW },
  dark: { lang: 'en', options: { ...DESKTOP, colorScheme: 'dark' } },
  arabic: { lang: 'ar', options: NARROW },
};

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

/** The server refuses lists while `isBroken`. Contacts have a page that is not loaded yet. */
async function breakLists(page) {
  const state = { isBroken: true, asked: [] };
  await page.routeWebSocket(/\/v1\/websocket/, socket => {
    const server = socket.connectToServer();
    socket.onMessage(text => {
      const frame = JSON.parse(text);
      if (frame.t !== 'conversations' && frame.t !== 'contacts') return server.send(text);
      state.asked.push(frame.t);
      if (state.isBroken)
        return socket.send(JSON.stringify({ t: 'error', re: frame.rid, code: 'internal', text: '' }));
      const { after: _, ...first } = frame;
      server.send(JSON.stringify(first));
    });
    server.onMessage(text => {
      const frame = JSON.parse(text);
      const isWelcome = frame.t === 'welcome';
      socket.send(isWelcome ? JSON.stringify({ ...frame, contacts: [], contacts_next: 'first' }) : text);
    });
  });
  return state;
}

for (const [name, { lang, options }] of Object.entries(LOOKS)) {
  test(`lists that failed, and a retry: ${name}`, async () => {
    const context = await person(browser, options);
    const page = await context.newPage();
    const state = await breakLists(page);
    await page.goto(`${host.origin}/?as=lea-${name}&lang=${lang}`);
    const widget = new Widget(page);
    await widget.show();
    const inside = selector => page.locator(`kith-widget ${selector}`);
    const failed = inside('.load-failed');

    for (const [list, open] of [
      ['conversations', () => inside('.filters [role=radio]').last().click()],
      ['contacts', () => inside('#tab-contacts').click()],
    ]) {
      state.isBroken = true;
      await open();
      await failed.waitFor();
      assert.equal(await inside('.empty').count(), 0, `${list}: it does not look empty`);
      await assertAccessible(page, `${list} that failed, ${name}`);
      await shot(page, `failed-${list}-${name}`);
      state.isBroken = false;
      const before = state.asked.length;
      await failed.locator('button').click();
      await inside('.empty').waitFor();
      assert.equal(await failed.count(), 0);
      assert.deepEqual(state.asked.slice(before), [list]);
      await shot(page, `empty-${list}-${name}`);
    }
    assertNoTrouble(context);
    await context.close();
  });
}
