// strophe.js against a running node, by WebSocket: sign-in, roster, presence, messages both ways, discovery, ping.

import { $iq, $msg, $pres, Strophe } from 'strophe.js';
import { check, end, Member, node, Queue, webSocketUrl } from './checks.mjs';

const { domain, user, password, other } = node;
const address = `${user}@${domain}/strophe`;

function start(secret) {
  const connection = new Strophe.Connection(webSocketUrl);
  const stanzas = new Queue();
  connection.addHandler(stanza => {
    stanzas.push(stanza);
    return true;
  });
  const outcome = new Promise(resolve => {
    connection.connect(address, secret, status => {
      if (status === Strophe.Status.CONNECTED) resolve('started');
      if (status === Strophe.Status.AUTHFAIL) resolve('refused');
    });
  });
  return { connection, stanzas, outcome };
}

const member = await Member.signIn();
const { connection, stanzas, outcome } = start(password);
await check(
  'sign in with SASL',
  outcome.then(one => one === 'started'),
);
await check('the session has its resource', connection.jid === address);
const stranger = start('a wrong password');
await check(
  'a wrong password is refused',
  stranger.outcome.then(one => one === 'refused'),
);

const ask = iq => new Promise((resolve, fail) => connection.sendIQ(iq, resolve, fail));
const query = (namespace, to) => $iq({ type: 'get', ...(to && { to }) }).c('query', { xmlns: namespace });
const all = (element, name) => Array.from(element?.getElementsByTagName(name) ?? []);
const roster = await check('the roster is read', ask(query('jabber:iq:roster')));
await check('the roster has items', all(roster, 'item').length > 0);
connection.send($pres());
const own = one => one.nodeName === 'presence' && one.getAttribute('from') === address;
await check('a client gets its own presence', stanzas.next(own));

const [hello, back] = ['Hello from <strophe>', 'Hello to strophe'];
connection.send(
  $msg({ to: `${other}@${domain}`, type: 'chat' })
    .c('body')
    .t(hello),
);
await check('a message reaches the widget', member.reads(hello));
member.say(back);
const body = one => all(one, 'body')[0]?.textContent;
const received = await check(
  'a message of the widget arrives',
  stanzas.next(one => body(one) === back),
);
await check('its sender is the member', received?.getAttribute('from').startsWith(`${other}@${domain}`));

const info = await check(
  'the domain answers discovery',
  ask(query('http://jabber.org/protocol/disco#info', domain)),
);
const isServer = one => one.getAttribute('category') === 'server' && one.getAttribute('type') === 'im';
await check('the domain is an XMPP server', all(info, 'identity').some(isServer));
await check(
  'the domain answers a ping',
  ask($iq({ type: 'get', to: domain }).c('ping', { xmlns: 'urn:xmpp:ping' })),
);
connection.disconnect();
end();
