// Faults of the connection: sleep, no network, a killed server, closed tabs, blocked transports.

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

/** Messages of the browser when it cannot reach a server. They are no errors of the widget. */
const NETWORK = /ERR_|WebSocket connection to|Failed to load resource/;

async function both(run) {
  const contexts = [await person(browser), await person(browser)];
  const anna = await Widget.of(contexts[0], kith, 'anna');
  const raj = await Widget.of(contexts[1], kith, 'raj');
  await anna.chatWith('Raj Patel');
  await raj.chatWith('Anna Lindqvist');
  await run(anna, raj, ...contexts);
  for (const context of contexts) {
    assertNoTrouble(context, NETWORK);
    await context.close();
  }
}

test('without network messages wait, presence is unknown, and all is sent once when it is back', async () => {
  await both(async (anna, raj, context) => {
    await anna.say('before');
    await raj.sees('before');
    await context.setOffline(true);
    await anna.page.getByText('You are offline. Messages will be sent when you reconnect.').waitFor();
    assert.equal(await anna.presence(), 'Reconnecting…');
    await anna.say('while offline 1');
    await anna.say('while offline 2');
    await anna.becomes('while offline 2', 'sending');
    await raj.say('are you there?');
    await context.setOffline(false);
    await anna.becomes('while offline 2', 'read');
    await anna.sees('are you there?');
    await raj.sees('while offline 2');
    const texts = await raj.texts();
    assert.deepEqual(texts.slice(-3).sort(), ['are you there?', 'while offline 1', 'while offline 2']);
    await until(async () => (await anna.presence()) === 'Online', 'presence is known again');
  });
});

test('after sleep the page catches up as soon as it is looked at', async () => {
  await both(async (anna, raj, context) => {
    await anna.say('good night');
    await raj.sees('good night');
    // Freeze the page: its sockets end without an event, and its timers stop.
    const session = await context.newCDPSession(anna.page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: true,
      latency: 0,
      downloadThroughput: 0,
      uploadThroughput: 0,
    });
    await session.send('Page.enable');
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    await raj.say('good morning');
    await raj.becomes('good morning', 'sent');
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await anna.page.evaluate(() => {
      document.dispatchEvent(new Event('visibilitychange'));
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    });
    await anna.sees('good morning');
  });
});

test('the server is killed in mid-conversation: nothing is lost, nothing is doubled', async () => {
  await both(async (anna, raj) => {
    const said = [];
    const say = async (widget, text) => {
      said.push(text);
      await widget.say(text);
    };
    for (let i = 0; i < 5; i++) await say(i % 2 === 0 ? anna : raj, `up ${i}`);
    await anna.becomes('up 4', 'read');
    await say(anna, 'into the crash');
    await kith.kill();
    await say(anna, 'while down 1');
    await say(raj, 'while down 2');
    await say(anna, 'while down 3');
    await anna.page.getByText('You are offline').waitFor();
    await kith.up();
    const hasEachOnce = async (widget, who) => {
      let texts;
      const look = async () => {
        texts = await widget.texts();
        return said.every(text => texts.filter(one => one === text).length === 1);
      };
      // A client waits at most 30 s before a retry, and may need two retries.
      await until(look, `${who} has each message once`, 75_000).catch(async error => {
        const status = await widget.page.evaluate(async () => (await globalThis.Kith.client()).status());
        error.message += ` (${JSON.stringify({ texts, status })})`;
        throw error;
      });
    };
    await hasEachOnce(anna, 'Anna');
    await hasEachOnce(raj, 'Raj');
    await until(
      async () => (await anna.messages()).filter(one => one.mine).every(one => one.state === 'read'),
      'all are read',
    );
    // The server has the same: a browser without stored data shows it.
    const context = await person(browser);
    const fresh = await Widget.of(context, kith, 'raj');
    await fresh.chatWith('Anna Lindqvist');
    await hasEachOnce(fresh, 'the archive');
    await context.close();
  });
});

test('several tabs are one connection, and another tab takes over when the first one goes', async () => {
  const context = await person(browser);
  const first = await Widget.of(context, kith, 'mei');
  await first.page.locator('kith-widget .chat-row').first().waitFor();
  const sockets = [];
  context.on('page', page => page.on('websocket', socket => sockets.push(socket.url())));
  const second = await Widget.of(context, kith, 'mei');
  const third = await Widget.of(context, kith, 'mei');
  await third.page.locator('kith-widget .chat-row').first().waitFor();
  assert.deepEqual(sockets, [], 'the other tabs open none');

  await second.chatWith('Tom Okafor');
  await third.chatWith('Tom Okafor');
  await second.say('from the second tab');
  await third.sees('from the second tab');
  await second.becomes('from the second tab', 'sent');

  await first.page.close();
  await until(() => sockets.length === 1, 'one of the others connects');
  await third.say('after the first one went');
  await second.sees('after the first one went');
  await third.becomes('after the first one went', 'sent');
  assert.equal(sockets.length, 1);
  assertNoTrouble(context, NETWORK);
  await context.close();
});

test('where WebSockets are blocked another transport carries the same conversation', async () => {
  for (const blocked of [['websocket'], ['websocket', 'stream'], ['websocket', 'stream', 'sse']]) {
    const context = await person(browser);
    await context.addInitScript(() => {
      // Simulate a proxy that answers the upgrade with an error.
      globalThis.WebSocket = class extends WebSocket {
        constructor(url, protocols) {
          super(url.replace('/v1/websocket', '/v1/no-such-path'), protocols);
        }
      };
    });
    for (const transport of blocked.slice(1))
      await context.route(`**/v1/${transport}`, route => route.fulfill({ status: 502, body: 'proxy' }));
    const yusuf = await Widget.of(context, kith, 'yusuf');
    await yusuf.chatWith('Jonas Weber');
    const text = `without ${blocked.join(', ')}`;
    await yusuf.say(text);
    await yusuf.becomes(text, 'sent');

    const other = await person(browser);
    const jonas = await Widget.of(other, kith, 'jonas');
    await jonas.chatWith('Yusuf Demir');
    await jonas.sees(text);
    await jonas.say(`answer ${text}`);
    await yusuf.sees(`answer ${text}`);
    assertNoTrouble(context, NETWORK);
    await context.close();
    await other.close();
  }
});
