// A push service on this machine, and a browser that uses it. The node sends pushes by HTTPS (RFC 8030), the service
// decrypts them with the keys of the subscription (RFC 8291), and the browser delivers them to the worker of the page.
// Tests cannot use Chromium's own service, which is Google's. So this service makes the subscription.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createDecipheriv, createECDH, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CERTIFICATE = `[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = localhost
[extensions]
subjectAltName = DNS:localhost
basicConstraints = critical, CA:FALSE
`;

/** Starts the service. `settings`: the settings of a node that uses it. */
export async function pushService() {
  const folder = await mkdtemp(join(tmpdir(), 'kith-push-'));
  const [config, cert, key] = ['wanted.cnf', 'cert.pem', 'key.pem'].map(name => join(folder, name));
  await writeFile(config, CERTIFICATE);
  const wanted = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-config',
    config,
    ...wanted,
    '-keyout',
    key,
    '-out',
    cert,
  ]);

  const subscriptions = new Map();
  const pushed = [];
  const server = createServer(
    { cert: await readFile(cert), key: await readFile(key) },
    async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const subscription = subscriptions.get(request.url);
      if (subscription === undefined) return response.writeHead(410).end();
      const text = open(Buffer.concat(chunks), subscription);
      pushed.push({ text, headers: request.headers });
      response.writeHead(201).end();
      await subscription.deliver(text);
    },
  );
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const origin = `https://localhost:${server.address().port}`;
  return {
    settings: { KITH_PUSH_AUTHORITY: cert, KITH_PUSH_SERVICES: 'localhost' },
    /** The received pushes: the text and the headers of each request. */
    pushed,
    subscribe(deliver) {
      const ecdh = createECDH('prime256v1');
      const path = `/p/${randomUUID()}`;
      const auth = randomBytes(16);
      subscriptions.set(path, { ecdh, publicKey: ecdh.generateKeys(), auth, deliver });
      return {
        endpoint: origin + path,
        keys: { p256dh: ecdh.getPublicKey('base64url'), auth: auth.toString('base64url') },
      };
    },
    unsubscribe: endpoint => subscriptions.delete(new URL(endpoint).pathname),
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Decrypts a push as its receiver (RFC 8188 §2.1, RFC 8291 §3.4). */
function open(body, { ecdh, publicKey, auth }) {
  const salt = body.subarray(0, 16);
  assert.deepEqual([body.readUInt32BE(16), body[20]], [4_096, 65]);
  const sender = body.subarray(21, 86);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender]);
  const secret = hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32);
  const expand = (what, length) =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${what}\0`, length));
  const cipher = createDecipheriv('aes-128-gcm', expand('aes128gcm', 16), expand('nonce', 12));
  cipher.setAuthTag(body.subarray(-16));
  const plain = Buffer.concat([cipher.update(body.subarray(86, -16)), cipher.final()]);
  const end = plain.findLastIndex(byte => byte !== 0);
  assert.equal(plain[end], 2, 'the delimiter of the last record');
  return plain.subarray(0, end).toString();
}

/** Pages of this context subscribe to the service. Pushes reach their worker at `origin`, also without an open page. */
export async function takesPushes(context, service, origin) {
  let there;
  await context.grantPermissions(['notifications', 'microphone'], { origin });
  await context.exposeFunction('pushSubscription', () => there ?? null);
  await context.exposeFunction('pushSubscribe', key => {
    there = { ...service.subscribe(text => deliver(context, origin, text).catch(unlessClosed)), key };
    return there;
  });
  await context.exposeFunction('pushUnsubscribe', () => {
    if (there) service.unsubscribe(there.endpoint);
    there = undefined;
  });
  await context.addInitScript(() => {
    if (!('PushManager' in globalThis)) return;
    const asked = subscription => {
      if (subscription === null) return null;
      const { endpoint, keys, key } = subscription;
      return {
        endpoint,
        options: { applicationServerKey: Uint8Array.from(key).buffer },
        toJSON: () => ({ endpoint, keys }),
        unsubscribe: async () => {
          await globalThis.pushUnsubscribe();
          return true;
        },
      };
    };
    PushManager.prototype.subscribe = async ({ applicationServerKey }) =>
      asked(await globalThis.pushSubscribe(Array.from(applicationServerKey)));
    PushManager.prototype.getSubscription = async () => asked(await globalThis.pushSubscription());
  });
}

/** The last push of a test may arrive when its browser has closed already. */
function unlessClosed(error) {
  if (!/has been closed/.test(error.message)) throw error;
}

/** Delivers a push to the worker at an origin, which starts it. No page of the site needs to be open. */
export async function deliver(context, origin, text) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const registered = new Promise(resolve => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const ours = registrations.find(
        one => !one.isDeleted && one.scopeURL.startsWith(origin) && one.scopeURL.endsWith('/kith/'),
      );
      if (ours) resolve(ours.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: text });
  await page.close();
}
