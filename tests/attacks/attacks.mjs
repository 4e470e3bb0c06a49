// Attacks on a real node, with bounds for the cost to other users and for revealed data. `make attacks` runs them
// against a release build and prints a table. A bound that does not hold fails the run. All traffic goes to loopback,
// and its amount is bounded. A run takes about two minutes.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AttackedNode, pause } from './node.mjs';
import { flatPicture } from './picture.mjs';

const kB = bytes => `${Math.round(bytes / 1_000)} kB`;

/** The longest time of a `look` while `attack` ran, in milliseconds. */
async function slowest(look, attack) {
  let longest = 0;
  let goesOn = true;
  const looks = (async () => {
    while (goesOn) {
      const begin = performance.now();
      await look();
      longest = Math.max(longest, performance.now() - begin);
      await pause(20);
    }
  })();
  await attack();
  goesOn = false;
  await looks;
  return Math.round(longest);
}

async function filters(node) {
  await node.addSite('garden');
  // A search that simulates the automaton visits each of the 900 optional parts for each character.
  const patterns = [{ pattern: '(?:(?:a|b|ab|ba)?){900}[0-9]{2}', act: 'flag' }];
  const text = unpredictable(8_000);
  const answer = await node.configure('garden', { filters: { patterns } });
  await node.configure('garden', { requests: { on: false }, trust: { on: false } });
  const [eve, other] = [
    await node.enter('eve', { site: 'garden' }),
    await node.enter('other', { site: 'garden' }),
  ];
  const service = await node.token('server', { site: 'garden', role: 'service' });
  const longest = await slowest(
    () => fetch(`http://${node.http}/healthz`),
    async () => {
      const tested = [1, 2, 3, 4, 5, 6, 7, 8].map(() =>
        node
          .rest('/v1/sites/garden/test-filter', service, { method: 'POST', body: { body: text } })
          .then(one => one.status),
      );
      const posted = [1, 2, 3, 4, 5, 6, 7, 8].map(() => eve.post({ user: 'other' }, text));
      await Promise.all([...tested, ...posted]);
    },
  );
  for (const client of [eve, other]) client.leave();
  return [`set: ${answer.status}; /healthz at most ${longest} ms`, longest < 1_000];
}

/** Letters a and b without a period, the same in each run. */
function unpredictable(length) {
  let state = 7;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state & 65_536 ? 'a' : 'b';
  }).join('');
}

async function consent(node) {
  await node.addSite('forum');
  const [eve, bob] = [await node.enter('eve', { site: 'forum' }), await node.enter('bob', { site: 'forum' })];
  await bob.ask({ t: 'change_profile', may_write: 'nobody' });
  const conversation = idOf(await eve.ask({ t: 'create_room', name: 'Come in', kind: 'private' }));
  const joined = bob.next(
    event => event.t === 'conversation' && event.conversation?.request !== 'received',
    1_500,
  );
  const answer = await eve.ask({ t: 'member', conversation, user: 'bob', action: 'invite' });
  const is = await joined;
  for (const client of [eve, bob]) client.leave();
  return [`answer: ${answer.code ?? answer.t}; bob is ${is ? 'a member' : 'no member'}`, is === undefined];
}

/** Creates the room of a page: it exists after the first message in it. */
async function writeIn(node, site, page) {
  const member = await node.enter('writer', { site });
  await member.post({ page }, 'Hello');
  member.leave();
}

async function reservations(node) {
  const begun = [];
  await writeIn(node, 'demo', 'attack');
  for (let number = 0; number < 60; number += 1) {
    const client = await node.enter(`u${number}`);
    client.leave();
    const token = await node.token(`u${number}`);
    for (let again = 0; again < 10; again += 1) {
      const answer = await node.upload(token, { to: { page: 'attack' }, name: 'a.bin', length: 100_000_000 });
      if (answer.status !== 201) break;
      begun.push(answer);
    }
  }
  const member = await node.enter('member');
  const answer = await node.upload(await node.token('member'), {
    to: { page: 'attack' },
    name: 'b.bin',
    length: 100_000_000,
  });
  member.leave();
  const reserved = begun.length / 10;
  return [`${reserved} GB announced; an upload of a member: ${answer.status}`, answer.status === 201];
}

async function pictures(node) {
  await node.addSite('photos');
  await node.configure('photos', { requests: { on: false }, trust: { on: false } });
  const [eve, photographer] = [await node.enter('eve'), await node.enter('photographer', { site: 'photos' })];
  await writeIn(node, 'demo', 'attack');
  await writeIn(node, 'photos', 'photos');
  const large = flatPicture(5_000, 5_000);
  const [tokenOfEve, token] = [await node.token('eve'), await node.token('photographer', { site: 'photos' })];
  let taken = 0;
  const attack = Array.from({ length: 45 }, async () => {
    const begun = await node.upload(tokenOfEve, {
      to: { page: 'attack' },
      name: 'a.png',
      length: large.length,
    });
    if (begun.status !== 201) return;
    taken += 1;
    const location = begun.headers.get('location');
    await node.bring(tokenOfEve, location, large).catch(() => {});
    await node.giveUp(tokenOfEve, location);
  });
  await pause(1_000);
  const small = flatPicture(800, 600);
  const begin = performance.now();
  const begun = await node.upload(token, {
    site: 'photos',
    to: { page: 'photos' },
    name: 'b.png',
    length: small.length,
  });
  const brought =
    begun.status === 201 ? await node.bring(token, begun.headers.get('location'), small) : begun;
  const took = Math.round(performance.now() - begin);
  await Promise.all(attack);
  for (const client of [eve, photographer]) client.leave();
  return [
    `${taken} of 45 (${kB(large.length)} each) begun; the other site's photo: ${brought.status} after ${took} ms`,
    brought.status === 204 && took < 5_000,
  ];
}

async function reactions(node) {
  const size = 100;
  const owner = await node.enter('owner', { role: 'admin' });
  const conversation = idOf(await owner.ask({ t: 'create_room', name: 'Hall', kind: 'public' }));
  const members = [];
  for (let number = 0; number < size; number += 1) {
    const member = await node.enter(`member-${number}`);
    await member.ask({ t: 'join', to: { conversation } });
    members.push(member);
  }
  const [eve] = members;
  const posted = await eve.post({ conversation }, 'x'.repeat(8_000));
  await pause(1_500);
  for (const member of members) Object.assign(member, { bytes: 0, keeps: false, events: [] });
  const commands = 200;
  for (let number = 0; number < commands; number += 1) {
    eve.say({
      t: 'react',
      rid: 1_000 + number,
      conversation,
      seq: posted.seq,
      reaction: '👍',
      on: number % 2 === 0,
    });
  }
  await pause(4_000);
  const down = members.slice(1).reduce((sum, member) => sum + member.bytes, 0);
  for (const member of [owner, ...members]) member.leave();
  const each = Math.round(down / (size - 1));
  return [`${commands} reactions to 8 kB sent ${each} bytes to each of ${size} members`, each < 8_000];
}

async function demoted(node) {
  await node.command('user', 'role', '--site', 'demo', 'member-1', 'admin');
  await pause(1_000);
  const token = await node.command('token', '--site', 'demo', '--user', 'member-1', '--role', 'admin');
  await pause(1_000);
  await node.command('user', 'role', '--site', 'demo', 'member-1', 'member');
  await pause(1_500);
  const answer = await node.rest('/v1/sites/demo/settings', token);
  return [`settings for the token of a former admin: ${answer.status}`, answer.status === 403];
}

async function relays(node) {
  const client = await node.enter('eve');
  const answer = await node.rest('/v1/ice', await node.token('eve'), {
    method: 'POST',
    body: { site: 'demo' },
  });
  const { ice, expires } = await answer.json();
  client.leave();
  const given = ice.find(one => one.credential !== undefined);
  // Credentials for a check cannot relay: `crates/calls/src/machine/tests.rs` tests it.
  const isCheck = given?.username.endsWith('-check');
  const seconds = given ? Math.round((expires - Date.now()) / 1_000) : 0;
  return [
    `credentials without a call: ${isCheck ? 'for a check' : given ? 'for a relay' : 'none'}, for ${seconds} s`,
    given === undefined || (isCheck && seconds <= 20),
  ];
}

async function rotation(node) {
  await node.addSite('rotated');
  const client = await node.enter('anna', { site: 'rotated' });
  const bye = client.next(event => event.t === 'bye', 5_000);
  await node.command('site', 'rotate-secret', 'rotated', '--overlap', '0s');
  const ended = await bye;
  client.leave();
  return [
    `session of the old secret: ${ended ? `bye ${ended.code}` : 'goes on after 5 s'}`,
    ended !== undefined,
  ];
}

async function anonymousPoll(node) {
  const [owner, voter] = [await node.enter('owner'), await node.enter('voter')];
  const conversation = idOf(await owner.ask({ t: 'create_room', name: 'Vote', kind: 'public' }));
  await voter.ask({ t: 'join', to: { conversation } });
  const asked = owner.next(event => event.t === 'ack' || event.t === 'error');
  owner.say({
    t: 'poll',
    id: 'poll-1',
    to: { conversation },
    body: 'Who?',
    choices: ['a', 'b'],
    anonymous: true,
  });
  const { seq } = await asked;
  const heard = owner.next(event => ['counts', 'update', 'poll'].includes(event.t), 5_000);
  await voter.ask({ t: 'vote', conversation, seq, choices: [1] });
  const event = await heard;
  for (const client of [owner, voter]) client.leave();
  const named = /"(voter|by)"/.test(JSON.stringify(event ?? {}));
  return [`the author's event ${named ? 'names' : 'does not name'} the voter`, event !== undefined && !named];
}

async function roomPicture(node) {
  const [owner, other] = [await node.enter('gardener'), await node.enter('other')];
  const conversation = idOf(await owner.ask({ t: 'create_room', name: 'Garden', kind: 'public' }));
  const answer = await owner.ask({
    t: 'change_room',
    conversation,
    avatar: 'https://tracker.example/pixel.png',
  });
  const rooms = JSON.stringify(await other.ask({ t: 'rooms', query: 'Garden' }));
  for (const client of [owner, other]) client.leave();
  const shown = rooms.includes('tracker.example');
  return [`answer: ${answer.code ?? answer.t}; others ${shown ? 'get' : 'do not get'} the address`, !shown];
}

async function erasedWords(node) {
  const word = 'rhododendronium';
  const [anna, ben] = [await node.enter('anna-e'), await node.enter('ben-e')];
  const first = await anna.post({ user: 'ben-e' }, `my ${word} blooms`);
  await pause(2_000);
  for (const client of [anna, ben]) client.leave();
  await node.command('user', 'erase', '--site', 'demo', 'anna-e', '--yes');
  await pause(8_000);
  const copy = await mkdtemp(join(tmpdir(), 'kith-attack-copy-'));
  await node.command('backup', join(copy, 'copy.db'));
  const found = [...(await holding(node.data, word)), ...(await holding(copy, word))];
  await rm(copy, { recursive: true });
  return [
    `posted: ${first.t}; files with the erased word: ${found.length === 0 ? 'none' : found.join(', ')}`,
    first.t === 'ack' && found.length === 0,
  ];
}

async function holding(dir, word) {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile());
  const held = await Promise.all(
    files.map(
      async file =>
        (await readFile(join(file.parentPath ?? file.path, file.name))).includes(word) && file.name,
    ),
  );
  return held.filter(Boolean);
}

async function hidden(node) {
  const [eve, bob] = [await node.enter('eve-h'), await node.enter('bob-h')];
  await bob.ask({ t: 'change_profile', see_presence: 'nobody' });
  const { conversation } = await eve.post({ user: 'bob-h' }, 'Are you there?');
  const heard = eve.next(
    event => ['marker', 'typing', 'presence'].includes(event.t) && event.presence !== 'offline',
    1_500,
  );
  bob.say({ t: 'marker', conversation, received: 1 });
  bob.say({ t: 'typing', to: { user: 'eve-h' }, on: true });
  const event = await heard;
  for (const client of [eve, bob]) client.leave();
  return [`a member who hides is seen by: ${event ? event.t : 'nothing'}`, event === undefined];
}

async function dataFolder(node) {
  const mode = ((await stat(node.data)).mode & 0o777).toString(8).padStart(4, '0');
  return [`mode of the data directory: ${mode}`, mode === '0700'];
}

async function metrics(node) {
  const answer = await fetch(`http://${node.http}/metrics`);
  return [
    `/metrics without a token, through no named proxy: ${answer.status}`,
    answer.status === 401 || answer.status === 404,
  ];
}

async function halfBodies(node) {
  const [count, sent] = [1_000, 62_000];
  const before = await node.memory();
  const [host, port] = node.http.split(':');
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host, port });
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(
        `POST /v1/send HTTP/1.1\r\nhost: ${node.http}\r\nauthorization: Kith x\r\ncontent-length: 64000\r\n\r\n`,
      );
      socket.write(Buffer.alloc(sent, 0x78));
      return socket;
    }),
  );
  await pause(2_000);
  const each = Math.max(0, Math.round(((await node.memory()) - before) / count));
  for (const socket of sockets) socket.destroy();
  return [`${count} half-sent bodies hold ${kB(each)} each`, each < 20_000];
}

async function merge(node) {
  const guest = await node.guest();
  const service = await node.token('server', { role: 'service' });
  const body = { guest: guest.welcome.me.user, user: 'mallory' };
  const answer = await node.rest('/v1/sites/demo/merge', service, { method: 'POST', body });
  guest.leave();
  return [
    `merge with the public id of a guest: ${answer.status}`,
    answer.status >= 400 && answer.status !== 404,
  ];
}

async function secondNode(node) {
  const started = promisify(execFile)(
    process.env.KITH_BIN,
    ['serve', '--data', node.data, '--http', '127.0.0.1:0'],
    {
      timeout: 3_000,
      env: {},
    },
  );
  const error = await started.catch(failed => failed);
  return [
    `a second node: ${error.killed ? 'serves' : `ends with ${error.code}`}`,
    error.killed === false && error.code > 0,
  ];
}

async function gatheredVote(node) {
  const size = 60;
  const members = [];
  const owner = await node.enter('owner-g');
  const conversation = idOf(await owner.ask({ t: 'create_room', name: 'Large', kind: 'public' }));
  for (let number = 0; number < size; number += 1) {
    const member = await node.enter(`voter-${number}`);
    await member.ask({ t: 'join', to: { conversation } });
    members.push(member);
  }
  const posted = owner.next(event => event.t === 'ack' || event.t === 'error');
  owner.say({ t: 'poll', id: 'poll-g', to: { conversation }, body: 'Tea?', choices: ['yes', 'no'] });
  const { seq } = await posted;
  await pause(1_500);
  await members[0].ask({ t: 'vote', conversation, seq, choices: [0] });
  const [later] = await Promise.all([
    members[1].next(event => event.t === 'message', 5_000),
    owner.post({ conversation }, 'Somebody else writes at once'),
  ]);
  await node.kill();
  await node.up();
  const device = await node.enter('voter-1');
  const answer = await device.ask({ t: 'resume', position: later.position });
  const known = JSON.stringify(answer).includes('"votes":1');
  const told =
    known || (await device.next(event => ['counts', 'update'].includes(event.t) && event.seq === seq, 5_000));
  for (const client of [owner, device, ...members]) client.leave();
  return [
    `a vote that waited when the node was killed: ${told ? 'told after the start' : 'lost to all devices'}`,
    Boolean(told),
  ];
}

const idOf = answer => answer.conversation.conversation;

const ATTACKS = [
  ['1', 'slow patterns of one site', filters],
  ['2', 'a stranger adds a member to a room', consent],
  ['3', 'announced files', reservations],
  ['4', 'pictures of many pixels', pictures],
  ['5', 'reactions in a room', reactions],
  ['6', 'a former admin', demoted],
  ['7', 'relays without a call', relays],
  ['8', 'a rotated secret', rotation],
  ['9', 'an anonymous poll', anonymousPoll],
  ['10', 'a room picture that tracks', roomPicture],
  ['11', 'words of an erased member', erasedWords],
  ['12', 'a member who hides', hidden],
  ['13', 'the data directory', dataFolder],
  ['14', '/metrics', metrics],
  ['15', 'half-sent bodies', halfBodies],
  ['16', 'a guest is taken over', merge],
  ['–', 'two nodes on one data directory', secondNode],
  ['–', 'a vote and a power cut', gatheredVote],
];

const only = process.argv.slice(2);
const node = await AttackedNode.start();
let failures = 0;
console.log('| row | attack | measured | holds |\n|---|---|---|---|');
try {
  for (const [row, name, attack] of ATTACKS) {
    if (only.length > 0 && !only.includes(attack.name)) continue;
    const [measured, holds] = await attack(node).catch(error => [`failed: ${error.message}`, false]);
    if (!holds) failures += 1;
    console.log(`| ${row} | ${name} | ${measured} | ${holds ? 'yes' : 'NO'} |`);
  }
} finally {
  await node.remove();
}
process.exitCode = failures > 0 ? 1 : 0;
