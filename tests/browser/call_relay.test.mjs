// Calls through the node's own relay, over each transport: for members who hide their address, and for networks that
// block all other traffic.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { until } from './browser.mjs';
import {
  befriend,
  browserOf,
  button,
  bye,
  call,
  flows,
  frame,
  hide,
  launchForCalls,
  line,
} from './calling.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-relay-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const wanted = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await promisify(execFile)('openssl', ['req', '-x509', ...wanted, ...name, '-keyout', key, '-out', cert]);
  [browser, kith] = await Promise.all([
    // The certificate is self-signed.
    launchForCalls('--ignore-certificate-errors'),
    Kith.start({
      KITH_HTTPS: '127.0.0.1:0',
      KITH_TLS_CERT: cert,
      KITH_TLS_KEY: key,
      KITH_CALLS_LISTEN: '127.0.0.1:0',
      KITH_CALLS_LISTEN_TLS: '127.0.0.1:0',
      KITH_CALLS_PEERS: '127.0.0.0/8',
    }),
  ]);
});
afterEach(() => Promise.all(browser.contexts().map(context => context.close())));
after(async () => {
  await browser.close();
  await kith.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A member who hides their address, and whose network allows only one transport to the relay. */
async function hidden(name, way) {
  const context = await browserOf(browser);
  await hide(context);
  await context.addInitScript(only => {
    const wanted = new RegExp(only);
    const through = ({ iceServers = [], ...more } = {}) => ({
      ...more,
      iceServers: iceServers
        .map(one => ({ ...one, urls: one.urls.filter(url => wanted.test(url)) }))
        .filter(one => one.urls.length > 0),
    });
    const Connection = globalThis.RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Connection {
      constructor(given) {
        super(through(given));
      }
      setConfiguration(given) {
        super.setConfiguration(through(given));
      }
    };
  }, way);
  return Widget.of(context, kith, name);
}

/** The local candidate of the selected pair: its kind, and the transport to the relay. */
const ownEnd = ({ page }) =>
  page.evaluate(async () => {
    const all = Array.from((await globalThis.connections.at(-1).getStats()).values());
    const { selectedCandidatePairId } = all.find(one => one.type === 'transport');
    const { localCandidateId } = all.find(one => one.id === selectedCandidatePairId);
    const { candidateType, relayProtocol } = all.find(one => one.id === localCandidateId);
    return [candidateType, relayProtocol];
  });

for (const [name, way, members] of [
  ['udp', '^turn:[^?]*$', ['anna', 'tom']],
  ['tcp', '^turn:.*transport=tcp$', ['raj', 'mei']],
  ['tls', '^turns:', ['sofia', 'hamish']],
]) {
  test(`pictures and voices go through the relay over ${name}, and the line says so`, async () => {
    const [one, other] = [await hidden(members[0], way), await hidden(members[1], way)];
    await befriend([one, other], members);
    await call(one, members[1], 'Video call');
    await button(other, 'Accept with video').click();
    await Promise.all([flows(one), flows(other)]);
    await until(async () => (await line(one)).endsWith(' · relayed'), 'the line says relayed');
    assert.deepEqual(
      [await ownEnd(one), await ownEnd(other)],
      [
        ['relay', name],
        ['relay', name],
      ],
    );
    await button(one, 'Devices and options').click();
    await frame(one).getByText('Your IP address is hidden from them.').waitFor();
    await button(other, 'Hang up').click();
    await until(async () => /^Call ended/.test(await line(one)), 'both hear the end');
    await bye(one, other);
  });
}

test('the check before a call finds each way to the relay', async () => {
  const anna = await Widget.of(await browserOf(browser), kith, 'anna');
  await anna.tab('Me').click();
  await anna.page.locator('kith-widget .choice', { hasText: 'Check microphone, camera and network' }).click();
  const reached = anna.page.locator('kith-widget .check-reach');
  await reached.getByText(/^Relay: yes/).waitFor();
  const said = await reached.getByText(/^Relay: yes/).textContent();
  assert.deepEqual(said.match(/UDP|TCP|TLS/g).sort(), ['TCP', 'TLS', 'UDP']);
  await bye(anna);
});
