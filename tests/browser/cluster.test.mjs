// `make cluster`, as a newcomer tries it: two members talk on two fronts, and kill -9 of any process loses nothing.
//
// SLOTS=3 tries `make cluster SLOTS=3`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertNoTrouble, launch, person, shot, until } from './browser.mjs';
import { BINARY, freePort } from './kith.mjs';
import { Widget } from './widget.mjs';

/** As the script names them. */
const [HOME, STANDBY] = Number(process.env.SLOTS ?? 1) > 1 ? ['homes-a', 'homes-b'] : ['home', 'standby'];
const SCRIPT = fileURLToPath(new URL('../../scripts/cluster.sh', import.meta.url));

let browser;
let data;
let cluster;
let said = '';
const fronts = [];
before(async () => {
  browser = await launch();
  data = await mkdtemp(join(tmpdir(), 'kith-cluster-'));
  const ports = [];
  while (ports.length < 5) ports.push(await freePort());
  const [nats, home, standby, ...rest] = ports;
  fronts.push(...rest.map(port => `http://127.0.0.1:${port}`));
  cluster = spawn('bash', [SCRIPT, data], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      KITH_BIN: BINARY,
      KITH_XMPP_LISTEN: 'off',
      KITH_CALLS_LISTEN: '127.0.0.1:0',
      NATS_PORT: nats,
      HOME_HTTP: `127.0.0.1:${home}`,
      STANDBY_HTTP: `127.0.0.1:${standby}`,
      FRONT_A: `127.0.0.1:${rest[0]}`,
      FRONT_B: `127.0.0.1:${rest[1]}`,
    },
  });
  for (const stream of [cluster.stdout, cluster.stderr])
    stream.on('data', bytes => {
      said += bytes;
    });
  await until(() => {
    assert.equal(cluster.exitCode, null, said);
    return said.includes('The cluster runs.');
  }, 'the cluster runs');
});
after(async () => {
  await browser.close();
  const ended = once(cluster, 'exit');
  cluster.kill('SIGTERM');
  await ended;
  await rm(data, { recursive: true, force: true });
});

const pidOf = async name => Number(await readFile(join(data, `${name}.pid`), 'utf8'));

/** Records what the widget says of its connection and of messages, if it stays long enough to be read. */
function listen() {
  const root = document.querySelector('kith-widget').shadowRoot;
  const words =
    /Reconnecting…|You are offline|Connection lost|currently unavailable|Not sent|Something went wrong|Try again/g;
  globalThis.said = new Set();
  let before = [];
  setInterval(() => {
    const now = root.textContent.match(words) ?? [];
    for (const word of now) if (before.includes(word)) globalThis.said.add(word);
    before = now;
  }, 150);
}

test('two members talk on two fronts; kill -9 of any process loses nothing, and says no more than "reconnecting"', async () => {
  const contexts = [await person(browser), await person(browser)];
  const open = async (context, front, member) => {
    const page = await context.newPage();
    await page.goto(`${front}/as/${member}/`);
    const widget = new Widget(page);
    await widget.show();
    return widget;
  };
  const anna = await open(contexts[0], fronts[0], 'anna');
  const raj = await open(contexts[1], fronts[1], 'raj');
  await anna.chatWith('Raj Patel');
  await raj.chatWith('Anna Lindqvist');
  await anna.say('We are on two nodes');
  await raj.sees('We are on two nodes');
  for (const one of [anna, raj]) await one.page.evaluate(listen);
  const written = [];
  const say = async (one, text) => {
    written.push(text);
    await one.say(text);
  };
  // The standby is the home after the first one.
  for (const name of [HOME, 'front-0', 'nats', 'postgres', STANDBY]) {
    await say(anna, `before ${name}`);
    await raj.sees(`before ${name}`);
    await say(raj, `on the way when ${name} dies`);
    process.kill(await pidOf(name), 'SIGKILL');
    await say(anna, `${name} is dead`);
    await say(raj, `${name} was killed`);
    for (const one of [anna, raj]) {
      for (const text of written.slice(-4)) await one.sees(text);
    }
    await until(
      async () => (await raj.presence()) === 'Online',
      `presence is known after the death of ${name}`,
    );
    // Only she is without a connection, and only when her own front dies. A list that loads while PostgreSQL is away fails.
    const allowed = name === 'postgres' ? ['Reconnecting…', 'Try again'] : ['Reconnecting…'];
    for (const one of name === 'front-0' ? [raj] : [anna, raj]) {
      const words = await one.page.evaluate(() => [...globalThis.said]);
      assert.deepEqual(
        words.filter(word => !allowed.includes(word)),
        [],
        `after the death of ${name}`,
      );
    }
    await anna.page.evaluate(() => globalThis.said.clear());
  }
  for (const one of [anna, raj]) {
    const texts = (await one.texts()).filter(text => written.includes(text));
    assert.deepEqual(texts.toSorted(), written.toSorted(), 'each message is there once');
  }
  await shot(anna.page, 'after-five-deaths');
  for (const context of contexts) {
    // The browser reports each failed attempt to connect.
    assertNoTrouble(context, /WebSocket|Failed to load resource|ERR_/);
    await context.close();
  }
});
