// The page of `stanza_call.mjs`: stanza with its Jingle, and the browser's devices. The test calls the functions of `app`.

import { createClient, JXT } from 'stanza';

const MESSAGES = ['propose', 'ringing', 'proceed', 'reject', 'retract', 'finish', 'accept'];
const NS = 'urn:xmpp:jingle-message:0';

let client;
let session;
let offered;
let proposed;
const heard = [];
const sid = () => crypto.randomUUID();

/** stanza has no Jingle Message Initiation: a message's element is a field of its name. */
const definitions = MESSAGES.map(element => ({
  element,
  namespace: NS,
  path: `message.jm_${element}`,
  fields: {
    id: JXT.attribute('id'),
    media: JXT.multipleChildAttribute('urn:xmpp:jingle:apps:rtp:1', 'description', 'media'),
  },
}));

/** False after 40 s: a busy machine encodes few pictures. */
async function until(look) {
  for (let tries = 0; tries < 400; tries += 1) {
    const found = await look();
    if (found) return found;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return false;
}

/** Plays what arrives: a browser decodes nothing that nobody hears or sees. */
function play(mediaSession) {
  session = mediaSession;
  session.pc.addEventListener('track', ({ track }) => {
    const element = document.createElement(track.kind);
    element.srcObject = new MediaStream([track]);
    document.body.append(element);
    element.play();
  });
}

const devices = kinds =>
  navigator.mediaDevices.getUserMedia({ audio: kinds.includes('audio'), video: kinds.includes('video') });

const say = (to, element, id, more = {}) =>
  client.sendMessage({ to, type: 'chat', [`jm_${element}`]: { id, ...more } });

globalThis.app = {
  async signIn({ jid, password, resource, webSocketUrl }) {
    const transports = { websocket: webSocketUrl, bosh: false };
    client = createClient({ jid, password, resource, transports, autoReconnect: false });
    client.stanzas.define(definitions);
    client.on('message', message => {
      for (const element of MESSAGES)
        if (message[`jm_${element}`])
          heard.push({ element, from: message.from, id: message[`jm_${element}`].id });
    });
    client.on('jingle:created', created => play(created));
    client.on('jingle:incoming', incoming => {
      offered = incoming;
    });
    client.seen = new Map();
    client.on('presence', presence => client.seen.set(presence.from, presence));
    const started = new Promise(resolve => {
      client.on('session:started', () => resolve(true));
      client.on('auth:failed', () => resolve(false));
    });
    client.connect();
    if (!(await started)) return false;
    await client.getRoster();
    client.sendPresence();
    return true;
  },

  /** The full JID of the widget of a user, once it is present with a hash of its features. */
  widgetOf: user =>
    until(
      () =>
        Array.from(client.seen.values()).find(
          one => one.from.startsWith(`${user}/`) && one.legacyCapabilities,
        )?.from,
    ),

  async features(address) {
    const { legacyCapabilities } = client.seen.get(address);
    const [{ node, value }] = [legacyCapabilities].flat();
    return (await client.getDiscoInfo(address, `${node}#${value}`)).features;
  },

  async hears(element) {
    const found = await until(() => heard.find(one => one.element === element));
    proposed = found && { ...found };
    heard.length = 0;
    return Boolean(found);
  },

  async propose(user, kinds) {
    proposed = { id: sid(), kinds };
    say(user, 'propose', proposed.id, { media: kinds });
  },

  /** Waits for the acceptance, and begins the session. */
  async proceed() {
    const found = await until(() => heard.find(one => one.element === 'proceed'));
    if (!found) return false;
    heard.length = 0;
    await start(found.from, found.id, ['audio']);
    return true;
  },

  async begin(user, kinds) {
    await start(`${user}/kith`, sid(), kinds);
  },

  /** Accepts the call that was proposed. */
  async accept(user) {
    offered = undefined;
    say(user, 'proceed', proposed.id);
    await until(() => offered);
    const stream = await devices(['audio', 'video']);
    for (const track of stream.getTracks()) await session.addTrack(track, stream);
    await session.accept();
  },

  reject: user => void say(user, 'reject', proposed.id),
  hangUp: () => session.end('success'),
  ended: () => until(() => session.state === 'ended'),

  /** Waits until media of these kinds arrive. */
  flows: kinds =>
    until(async () => {
      const seen = new Set();
      for (const one of (await session.pc.getStats()).values()) {
        if (one.type !== 'inbound-rtp') continue;
        if (one.kind === 'audio' && one.totalAudioEnergy > 0) seen.add('audio');
        if (one.kind === 'video' && one.framesDecoded > 5) seen.add('video');
      }
      return kinds.every(kind => seen.has(kind));
    }),
};

async function start(peer, id, kinds) {
  const mine = client.jingle.createMediaSession(peer, id, await devices(kinds));
  await mine.start();
}
