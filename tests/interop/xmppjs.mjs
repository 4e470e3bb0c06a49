// xmpp.js against a running node, by TCP and by WebSocket: sign-in, roster, presence, messages both ways, discovery, ping.

import { client, xml } from '@xmpp/client';
import { check, end, Member, node, Queue, webSocketUrl } from './checks.mjs';

const { domain, user, password, other, xmppPort } = node;

function start(service, secret) {
  const xmpp = client({ service, domain, username: user, password: secret, resource: 'xmppjs' });
  const stanzas = new Queue();
  xmpp.on('stanza', stanza => stanzas.push(stanza));
  // A refused sign-in is the outcome of `start`.
  xmpp.on('error', () => undefined);
  return { xmpp, stanzas };
}

async function refuses(service) {
  const { xmpp } = start(service, 'a wrong password');
  const refused = await xmpp.start().then(
    () => false,
    error => error.condition === 'not-authorized',
  );
  xmpp.reconnect.stop();
  await xmpp.disconnect();
  return refused;
}

const member = await Member.signIn();
for (const [transport, service] of [
  ['TCP', `xmpp://127.0.0.1:${xmppPort}`],
  ['WebSocket', webSocketUrl],
]) {
  const { xmpp, stanzas } = start(service, password);
  const address = await check(`${transport}: sign in with SASL`, xmpp.start());
  if (!address) continue;
  // With Bind 2 the server adds to the name that the client gives itself (XEP-0386 §3.3).
  const hasResource = address.toString().startsWith(`${user}@${domain}/xmppjs`);
  await check(`${transport}: the session has its resource`, hasResource);
  await check(`${transport}: a wrong password is refused`, refuses(service));

  const ask = (to, payload) => xmpp.iqCaller.get(payload, to);
  const roster = await check(
    `${transport}: the roster is read`,
    ask(undefined, xml('query', 'jabber:iq:roster')),
  );
  await check(`${transport}: the roster has items`, roster?.getChildren('item').length > 0);

  await xmpp.send(xml('presence'));
  const own = ({ name, attrs }) => name === 'presence' && attrs.from === address.toString();
  await check(`${transport}: a client gets its own presence`, stanzas.next(own));

  const greeting = `Grüße & <b> by ${transport}`;
  await xmpp.send(xml('message', { type: 'chat', to: `${other}@${domain}` }, xml('body', {}, greeting)));
  await check(`${transport}: a message reaches the widget`, member.reads(greeting));
  member.say(`back by ${transport}`);
  const answer = one => one.name === 'message' && one.getChildText('body') === `back by ${transport}`;
  const received = await check(`${transport}: a message of the widget arrives`, stanzas.next(answer));
  await check(
    `${transport}: its sender is the member`,
    received?.attrs.from.startsWith(`${other}@${domain}`),
  );

  const info = await check(
    `${transport}: the domain answers discovery`,
    ask(domain, xml('query', 'http://jabber.org/protocol/disco#info')),
  );
  const isServer = ({ attrs }) => attrs.category === 'server' && attrs.type === 'im';
  await check(`${transport}: the domain is an XMPP server`, info?.getChildren('identity').some(isServer));
  await check(
    `${transport}: the domain answers a ping`,
    xmpp.iqCaller.request(xml('iq', { type: 'get', to: domain }, xml('ping', 'urn:xmpp:ping'))),
  );
  await check(
    `${transport}: the stream ends`,
    xmpp.stop().then(() => true),
  );
}
end();
