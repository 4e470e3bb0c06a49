// stanza against a running node, by WebSocket and by BOSH: sign-in, roster, presence, messages both ways, typing, blocks, stream management.

import { createClient } from 'stanza';
import { boshUrl, check, end, Member, node, Queue, webSocketUrl } from './checks.mjs';

const { domain, user, password, other } = node;
const address = `${user}@${domain}`;

/** `transports`: of stanza's options. */
function start(transports, secret) {
  const client = createClient({
    jid: address,
    password: secret,
    resource: 'stanza',
    transports,
    autoReconnect: false,
  });
  const messages = new Queue();
  client.on('message', message => messages.push(message));
  const presences = new Queue();
  client.on('presence', presence => presences.push(presence));
  const states = new Queue();
  client.on('chat:state', message => states.push(message.chatState));
  const outcome = new Promise((resolve, fail) => {
    client.on('session:started', () => resolve('started'));
    client.on('auth:failed', () => resolve('refused'));
    client.on('stream:error', error => fail(new Error(error.condition)));
  });
  client.connect();
  return { client, messages, presences, states, outcome };
}

const member = await Member.signIn();
for (const [name, transports] of [
  ['WebSocket', { websocket: webSocketUrl, bosh: false }],
  ['BOSH', { websocket: false, bosh: boshUrl }],
]) {
  const { client, messages, presences, states, outcome } = start(transports, password);
  await check(
    `${name}: sign in with SASL`,
    outcome.then(one => one === 'started'),
  );
  await check(`${name}: the session has its resource`, client.jid === `${address}/stanza`);
  const stranger = start(transports, 'a wrong password');
  await check(
    `${name}: a wrong password is refused`,
    stranger.outcome.then(one => one === 'refused'),
  );
  stranger.client.disconnect();

  const roster = await check(`${name}: the roster is read`, client.getRoster());
  await check(`${name}: the roster has items`, roster?.items?.length > 0);
  client.sendPresence();
  await check(
    `${name}: a client gets its own presence`,
    presences.next(one => one.from === client.jid),
  );

  const [hello, back] = [`Hello from stanza by ${name}`, `Hello to stanza by ${name}`];
  client.sendMessage({ to: `${other}@${domain}`, type: 'chat', body: hello });
  await check(`${name}: a message reaches the widget`, member.reads(hello));
  member.say(back);
  const received = await check(
    `${name}: a message of the widget arrives`,
    messages.next(one => one.body === back),
  );
  await check(`${name}: its sender is the member`, received?.from.startsWith(`${other}@${domain}`));
  const { conversation } = await member.events.next(event => event.t === 'ack');
  member.send({ t: 'typing', to: { conversation }, on: true });
  await check(
    `${name}: typing of the widget arrives`,
    states.next(one => one === 'composing'),
  );

  const history = await check(
    `${name}: the archive answers`,
    client.searchHistory({ with: `${other}@${domain}`, paging: { max: 10, before: '' } }),
  );
  const bodies = history?.results?.map(one => one.item?.message?.body);
  await check(`${name}: it has the messages of both`, bodies?.includes(hello) && bodies.includes(back));
  await check(
    `${name}: carbons are enabled`,
    client.enableCarbons().then(() => true),
  );

  const info = await check(`${name}: the domain answers discovery`, client.getDiscoInfo(domain));
  const isServer = ({ category, type }) => category === 'server' && type === 'im';
  await check(`${name}: the domain is an XMPP server`, info?.identities.some(isServer));
  await check(
    `${name}: the domain answers a ping`,
    client.ping(domain).then(() => true),
  );
  const version = await check(`${name}: the domain says its name`, client.getSoftwareVersion(domain));
  await check(`${name}: its name is Kith`, version?.name === 'Kith');
  await check(
    `${name}: a block is accepted`,
    client.block(`${other}@${domain}`).then(() => true),
  );
  const blocked = await check(`${name}: the block list is read`, client.getBlocked());
  await check(`${name}: the block is listed`, blocked?.jids?.includes(`${other}@${domain}`));
  await check(
    `${name}: the block ends`,
    client.unblock(`${other}@${domain}`).then(() => true),
  );
  await check(`${name}: stream management is on`, client.sm.started);
  const ended = new Promise(resolve => client.on('stream:end', () => resolve(true)));
  client.disconnect();
  await check(`${name}: the stream ends`, ended);
}
end();
