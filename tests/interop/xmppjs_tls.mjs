// xmpp.js against a node that requires TLS: STARTTLS, direct TLS, and WebSocket over HTTPS. NODE_EXTRA_CA_CERTS has the certificate.

import { client, xml } from '@xmpp/client';
import { check, end } from './checks.mjs';

const [starttlsPort, tlsPort, httpsPort, domain, username, password] = process.argv.slice(2);
for (const [transport, service] of [
  ['STARTTLS', `xmpp://localhost:${starttlsPort}`],
  ['direct TLS', `xmpps://localhost:${tlsPort}`],
  ['WebSocket over HTTPS', `wss://localhost:${httpsPort}/xmpp-websocket`],
]) {
  const xmpp = client({ service, domain, username, password });
  xmpp.on('error', () => undefined);
  const started = await check(`${transport}: sign in with SASL`, xmpp.start());
  if (started) {
    const ping = xml('iq', { type: 'get', to: domain }, xml('ping', 'urn:xmpp:ping'));
    await check(`${transport}: the domain answers a ping`, xmpp.iqCaller.request(ping));
  }
  xmpp.reconnect.stop();
  await xmpp.disconnect();
}
end();
