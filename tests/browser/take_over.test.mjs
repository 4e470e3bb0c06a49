// A new version takes the running node over, and pages do not notice.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoTrouble, launch, person, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** Records from now on what the widget says about its connection. */
function listen() {
  const root = document.querySelector('kith-widget').shadowRoot;
  globalThis.said = [];
  const look = () => {
    const found = root.textContent.match(
      /Reconnecting…|You are offline|Connection lost|Waiting for connection/,
    );
    if (found) globalThis.said.push(found[0]);
  };
  new MutationObserver(look).observe(root, { subtree: true, childList: true, characterData: true });
}

test('while members type and write, a new version takes over twice: nothing is lost, and no page reconnects', async () => {
  const contexts = [await person(browser), await person(browser)];
  let closed = 0;
  let opened = 0;
  for (const context of contexts) {
    context.on('page', page =>
      page.on('websocket', socket => {
        opened += 1;
        socket.on('close', () => {
          closed += 1;
        });
      }),
    );
  }
  const anna = await Widget.of(contexts[0], kith, 'anna');
  const raj = await Widget.of(contexts[1], kith, 'raj');
  await anna.chatWith('Raj Patel');
  await raj.chatWith('Anna Lindqvist');
  await anna.say('before');
  await raj.sees('before');
  await Promise.all([anna, raj].map(one => one.page.evaluate(listen)));
  for (const round of ['first', 'second']) {
    const [replaced] = await Promise.all([
      kith.takeOver(),
      raj.field.pressSequentially(`typed during the ${round}`, { delay: 40 }),
      (async () => {
        for (let number = 0; number < 10; number += 1) await anna.say(`${round} ${number}`);
      })(),
    ]);
    assert.equal(replaced, undefined);
    await raj.field.press('Enter');
    await anna.sees(`typed during the ${round}`);
    await raj.sees(`${round} 9`);
    const texts = (await raj.texts()).filter(text => text.startsWith(`${round} `));
    assert.deepEqual(
      texts,
      Array.from({ length: 10 }, (_, number) => `${round} ${number}`),
    );
    await until(async () => (await anna.presence()) === 'Online', 'presence stays known');
  }
  const said = await Promise.all([anna, raj].map(one => one.page.evaluate(() => globalThis.said)));
  assert.deepEqual(said, [[], []]);
  assert.ok(opened >= 2, `${opened} WebSockets were seen`);
  assert.equal(closed, 0);
  for (const context of contexts) {
    assertNoTrouble(context);
    await context.close();
  }
});
