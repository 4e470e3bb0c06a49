// A new version takes the running node over, and pages do not notice.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { assertNoTrouble, person, shot, until } from './browser.mjs';
import {
  befriend,
  browserOf,
  button,
  bye,
  call,
  flows,
  heard,
  hide,
  launchForCalls,
  line,
  openChat,
} from './calling.mjs';
import { freePort, Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  browser = await launchForCalls();
});
// The node that took over has no pages of the demo.
beforeEach(async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  kith = await Kith.start({ KITH_CALLS_LISTEN: listen, KITH_CALLS_PEERS: '127.0.0.0/8' });
});
afterEach(async () => {
  await Promise.all(browser.contexts().map(context => context.close()));
  await kith.stop();
});
after(() => browser.close());

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

/** Frames of the call that were seen, and the number of connections that were made for it. */
const seen = async one => ({
  frames: (await heard(one)).frames,
  connections: await one.page.evaluate(() => globalThis.connections.length),
});

for (const isRelayed of [false, true]) {
  const way = isRelayed ? 'through the relay of the node' : 'between two browsers';
  test(`a call ${way} goes on while a new version takes over, and its members type`, async () => {
    const contexts = await Promise.all([browserOf(browser), browserOf(browser)]);
    if (isRelayed) await hide(contexts[0]);
    const members = ['anna', 'raj'];
    const [anna, raj] = await Promise.all(members.map((name, at) => Widget.of(contexts[at], kith, name)));
    await befriend([anna, raj], members);
    await call(anna, 'raj', 'Video call');
    await button(raj, 'Accept with video').click();
    await Promise.all([flows(anna), flows(raj)]);
    if (isRelayed) await until(async () => (await line(anna)).endsWith(' · relayed'), 'the line says so');
    await openChat(raj, 'anna');
    for (const one of [anna, raj]) await one.page.evaluate(listen);
    const before = await Promise.all([seen(anna), seen(raj)]);
    await Promise.all([kith.takeOver(), raj.field.pressSequentially('typed in mid-call', { delay: 40 })]);
    for (const [at, one] of [anna, raj].entries()) {
      const come = async () => (await seen(one)).frames > before[at].frames + 50;
      await until(come, 'pictures come in as before');
      assert.equal((await seen(one)).connections, before[at].connections);
      assert.deepEqual(await one.page.evaluate(() => globalThis.said), []);
    }
    await raj.field.press('Enter');
    await anna.sees('typed in mid-call');
    await shot(anna.page, `call-after-take-over-${isRelayed ? 'relayed' : 'direct'}`);
    await button(raj, 'Hang up').click();
    await until(async () => /^Call ended/.test(await line(anna)), 'both hear the end');
    await bye(anna, raj);
  });
}
