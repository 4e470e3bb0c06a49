// Two browsers call each other through the client. The server connects them, and data flows directly between them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoTrouble, launch, person, until } from './browser.mjs';
import { Kith } from './kith.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([
    // A machine without a network has only loopback, and cannot resolve names of multicast DNS.
    launch('--allow-loopback-in-peer-connection', '--disable-features=WebRtcHideLocalIpsWithMdns'),
    Kith.start(),
  ]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** Sets `talk` on the page: the connection, its data channel, and all received events of calls. */
async function prepare(page) {
  await page.evaluate(async () => {
    const client = await globalThis.Kith.client();
    const talk = { client, heard: [], said: [], early: [] };
    globalThis.talk = talk;
    talk.connect = (ice = []) => {
      talk.pc?.close();
      // Candidates may be sent only after the caller has a place in the call.
      talk.placed = new Promise(resolve => {
        talk.place = resolve;
      });
      talk.pc = new RTCPeerConnection({ iceServers: ice });
      talk.pc.onicecandidate = async ({ candidate }) => {
        await talk.placed;
        await talk.say({ action: 'candidate', candidate: candidate ? JSON.stringify(candidate) : '' });
      };
      talk.pc.ondatachannel = ({ channel }) => talk.open(channel);
    };
    talk.open = channel => {
      talk.channel = channel;
      channel.onmessage = ({ data }) => talk.said.push(data);
    };
    talk.say = action => client.call({ ...action, call: talk.id });
    talk.take = async (type, sdp) => {
      await talk.pc.setRemoteDescription({ type, sdp });
      for (const candidate of talk.early.splice(0)) await talk.pc.addIceCandidate(candidate);
    };
    talk.answer = async sdp => {
      await talk.take('offer', sdp);
      await talk.pc.setLocalDescription();
      return talk.pc.localDescription.sdp;
    };
    client.on('call', async event => {
      talk.heard.push(event.news);
      if (event.news === 'ring') Object.assign(talk, { id: event.call, ring: event });
      if (event.news === 'over') talk.over = event;
      if (event.news === 'accepted') await talk.take('answer', event.sdp);
      if (event.news === 'answer') await talk.take('answer', event.sdp);
      if (event.news === 'back') {
        talk.connect();
        talk.place();
        await talk.say({ action: 'answer', sdp: await talk.answer(event.sdp) });
      }
      if (event.news === 'candidate' && event.candidate !== '') {
        const candidate = JSON.parse(event.candidate);
        if (talk.pc?.remoteDescription) await talk.pc.addIceCandidate(candidate);
        else talk.early.push(candidate);
      }
    });
  });
  await until(
    () => page.evaluate(() => globalThis.talk.client.status().state === 'online'),
    `${page.url()} is online`,
  );
}

async function member(name) {
  const context = await person(browser);
  const page = await context.newPage();
  await page.goto(`${kith.url}/as/${name}/`);
  await prepare(page);
  return page;
}

/** Invites as docs/protocol.md describes it: the ICE servers are set before candidates are gathered. */
const invite = async user => {
  const { talk } = globalThis;
  talk.connect();
  talk.open(talk.pc.createDataChannel('talk'));
  const offer = await talk.pc.createOffer();
  const calling = await talk.client.call({ action: 'invite', user, media: 'audio', sdp: offer.sdp });
  talk.id = calling.call;
  talk.place();
  talk.ticket = calling.ticket;
  talk.pc.setConfiguration({ iceServers: calling.ice ?? [] });
  await talk.pc.setLocalDescription(offer);
  return calling.news;
};

const heardBy = (page, text) =>
  until(() => page.evaluate(one => globalThis.talk.said.includes(one), text), `"${text}" is heard`);

/** Sends a text when the data channel is open. */
async function tell(page, text) {
  await until(() => page.evaluate(() => globalThis.talk.channel?.readyState === 'open'), 'the way is open');
  await page.evaluate(one => globalThis.talk.channel.send(one), text);
}

test('they find each other, one reloads in mid-call, and both hear how it ends', async () => {
  const [anna, tom] = await Promise.all([member('anna'), member('tom')]);
  await anna.evaluate(() => globalThis.talk.client.changeContact('request', 'tom'));
  await tom.evaluate(() => globalThis.talk.client.changeContact('request', 'anna'));

  assert.equal(await anna.evaluate(invite, 'tom'), 'calling');
  await until(() => tom.evaluate(() => globalThis.talk.ring?.user === 'anna'), 'it rings');
  const joined = await tom.evaluate(async () => {
    const { talk } = globalThis;
    talk.connect(talk.ring.ice);
    const sdp = await talk.answer(talk.ring.sdp);
    const { news } = await talk.say({ action: 'accept', sdp });
    talk.place();
    return news;
  });
  assert.equal(joined, 'joined');
  await tell(anna, 'hello tom');
  await heardBy(tom, 'hello tom');
  await tell(tom, 'hello anna');
  await heardBy(anna, 'hello anna');

  const kept = await anna.evaluate(() => ({ id: globalThis.talk.id, ticket: globalThis.talk.ticket }));
  await anna.reload();
  await until(() => tom.evaluate(() => globalThis.talk.heard.includes('away')), 'she is missed');
  await prepare(anna);
  const rejoined = await anna.evaluate(async ({ id, ticket }) => {
    const { talk } = globalThis;
    talk.id = id;
    talk.connect();
    talk.open(talk.pc.createDataChannel('talk'));
    const offer = await talk.pc.createOffer();
    const { news } = await talk.say({ action: 'rejoin', ticket, sdp: offer.sdp });
    talk.place();
    await talk.pc.setLocalDescription(offer);
    return news;
  }, kept);
  assert.equal(rejoined, 'rejoined');
  await tell(anna, 'here again');
  await heardBy(tom, 'here again');

  const over = await tom.evaluate(() => globalThis.talk.say({ action: 'hang_up' }));
  assert.equal(over.outcome, 'ended');
  const told = await until(() => anna.evaluate(() => globalThis.talk.over), 'she hears that it is over');
  assert.deepEqual([told.outcome, told.ms], [over.outcome, over.ms]);
  const left = () =>
    anna.evaluate(() => globalThis.talk.client.conversation('@tom').last?.body.startsWith('Audio call, '));
  await until(left, 'the call is in the conversation');
  for (const page of [anna, tom]) assertNoTrouble(page.context());
});
