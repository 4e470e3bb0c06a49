// Edits, deletions and reactions: shown at once, applied once on each device, undone if refused, kept while offline.

import { expect, test } from 'vitest';
import { type Client, type ClientEvents, direct } from '../src/client.ts';
import { world } from './world.ts';

const BEN = direct('ben');
const ANA = direct('ana');

async function talking(bodies = ['one', 'two', 'three']) {
  const all = world();
  const ana = await all.online('ana');
  const ben = await all.online('ben');
  ana.client.open(BEN);
  ben.client.open(ANA);
  for (const body of bodies) ana.client.send(BEN, body);
  await all.clock.advance(1_000 + 30 * bodies.length);
  return { ...all, ana: ana.client, ben: ben.client };
}

/** Each message as one word: its text and marks of its state. */
function seen(client: Client, key = BEN): string[] {
  return client.timeline(key).messages.map(({ body, edited, deleted, reactions = [], changing }) => {
    const marks = reactions.map(one => `${one.reaction}${one.count}${one.mine ? '!' : ''}`);
    const words = [deleted ? '(deleted)' : body, edited !== undefined && 'edited', ...marks, changing && '…'];
    return words.filter(Boolean).join(' ');
  });
}

test('an edit is shown at once, and then on all devices', async () => {
  const { clock, ana, ben } = await talking();
  ana.edit(BEN, 2, 'zwei  ');
  expect(seen(ana)).toEqual(['one', 'zwei edited …', 'three']);
  await clock.advance(100);
  expect(seen(ana)).toEqual(['one', 'zwei edited', 'three']);
  expect(seen(ben, ANA)).toEqual(['one', 'zwei edited', 'three']);
});

test('a deleted message keeps its place, and loses its reactions', async () => {
  const { clock, ana, ben } = await talking();
  ben.react(ANA, 3, '👍', true);
  await clock.advance(100);
  ana.remove(BEN, 3);
  expect(seen(ana)).toEqual(['one', 'two', '(deleted) …']);
  await clock.advance(100);
  expect(seen(ben, ANA)).toEqual(['one', 'two', '(deleted)']);
  expect(ben.conversation(ANA).last).toMatchObject({ deleted: true, body: '' });
});

test('reactions are counted, and each member sees which are their own', async () => {
  const { clock, ana, ben } = await talking();
  ana.react(BEN, 1, '👍', true);
  ben.react(ANA, 1, '👍', true);
  ben.react(ANA, 1, '🎉', true);
  await clock.advance(200);
  expect(seen(ana)[0]).toBe('one 👍2! 🎉1');
  expect(seen(ben, ANA)[0]).toBe('one 👍2! 🎉1!');
  ana.react(BEN, 1, '👍', false);
  expect(seen(ana)[0]).toBe('one 👍1 🎉1 …');
  await clock.advance(200);
  expect(seen(ana)[0]).toBe('one 👍1 🎉1');
  expect(seen(ben, ANA)[0]).toBe('one 👍1! 🎉1!');
});

test('after quick changes back and forth only the difference is sent', async () => {
  const { clock, server, ana } = await talking();
  for (const on of [true, false, true, false, true]) ana.react(BEN, 1, '👍', on);
  await clock.advance(500);
  const said = server.log.filter(one => one.command.t === 'react').map(one => one.command);
  expect(said.length).toBeLessThanOrEqual(2);
  expect(seen(ana)[0]).toBe('one 👍1!');
});

test('a refused change is undone, and reported', async () => {
  const { clock, server, ana } = await talking();
  const refused: ClientEvents['refused'][] = [];
  ana.on('refused', one => refused.push(one));
  server.refuse = command =>
    command.t === 'edit' ? { t: 'error', re: command.rid, code: 'not_allowed', text: '' } : undefined;
  ana.edit(BEN, 1, 'eins');
  await clock.advance(200);
  expect(seen(ana)).toEqual(['one', 'two', 'three']);
  expect(refused).toEqual([{ key: BEN, what: 'edit', code: 'not_allowed' }]);
});

test('a change that is refused for now is retried', async () => {
  const { clock, server, ana, ben } = await talking();
  let times = 0;
  server.refuse = command =>
    command.t === 'delete' && ++times < 3
      ? { t: 'error', re: command.rid, code: 'rate_limited', text: '', retry_after: 2_000 }
      : undefined;
  ana.remove(BEN, 1);
  await clock.advance(1_000);
  expect(seen(ana)[0]).toBe('(deleted) …');
  await clock.advance(6_000);
  expect(times).toBe(3);
  expect([seen(ana)[0], seen(ben, ANA)[0]]).toEqual(['(deleted)', '(deleted)']);
});

test('an offline change waits and is sent later; only the newest of its kind is sent', async () => {
  const { clock, server, ana, ben } = await talking();
  server.reachable = false;
  server.cutAll();
  await clock.advance(100);
  ana.edit(BEN, 1, 'uno');
  ana.edit(BEN, 1, 'eins');
  ana.edit(BEN, 2, 'zwei');
  ana.remove(BEN, 2);
  ana.react(BEN, 3, '👍', true);
  expect(seen(ana)).toEqual(['eins edited …', '(deleted) …', 'three 👍1! …']);
  await clock.advance(5_000);
  server.reachable = true;
  await clock.advance(70_000);
  const now = ['eins edited', '(deleted)', 'three 👍1!'];
  expect(seen(ana)).toEqual(now);
  expect(seen(ben, ANA)).toEqual(now.map(one => one.replace('!', '')));
  expect(server.log.filter(one => one.command.t === 'edit')).toHaveLength(1);
});

test('a device that was offline gets the changes', async () => {
  const { clock, server, ana, ben } = await talking();
  server.reachable = false;
  for (const session of [...server.sessions]) if (session.user === 'ben') server.cut(session);
  ana.edit(BEN, 1, 'eins');
  ana.remove(BEN, 2);
  await clock.advance(500);
  expect(seen(ben, ANA)).toEqual(['one', 'two', 'three']);
  server.reachable = true;
  await clock.advance(70_000);
  expect(seen(ben, ANA)).toEqual(['eins edited', '(deleted)', 'three']);
});

test('a device that missed too much drops its messages, and loads them again', async () => {
  const { clock, server, ana, ben } = await talking(Array.from({ length: 40 }, (_, i) => `m${i + 1}`));
  server.updatesAtMost = 3;
  server.reachable = false;
  for (const session of [...server.sessions]) if (session.user === 'ben') server.cut(session);
  for (let seq = 1; seq <= 8; seq++) ana.edit(BEN, seq, `n${seq}`);
  await clock.advance(1_000);
  server.reachable = true;
  await clock.advance(70_000);
  expect(seen(ben, ANA).slice(0, 9)).toEqual([
    ...Array.from({ length: 8 }, (_, i) => `n${i + 1} edited`),
    'm9',
  ]);
});

test('a change that overtakes the page on which its message is, is not lost', async () => {
  const { clock, server, online, ana } = await talking(Array.from({ length: 80 }, (_, i) => `m${i + 1}`));
  const late = (await online('ben')).client;
  late.seen(ANA, 80);
  late.open(ANA);
  await clock.advance(500);
  expect(late.timeline(ANA).messages[0]?.seq).toBe(30);
  ana.edit(BEN, 1, 'eins');
  await clock.advance(500);
  // The page of history has the message from before the change.
  const { edited: _, version: __, ...before } = server.talk('ana', 'ben').messages[0]!;
  server.talk('ana', 'ben').messages[0] = { ...before, body: 'm1' };
  late.loadOlder(ANA);
  await clock.advance(500);
  expect(seen(late, ANA)[0]).toBe('eins edited');
});

test('another tab shows the change too, and sends it if the first tab is killed', async () => {
  const { clock, server, browser, online } = world();
  const shared = browser();
  const one = await online('ana', shared);
  const two = await online('ana', shared);
  await online('ben');
  for (const tab of [one, two]) tab.client.open(BEN);
  one.client.send(BEN, 'one');
  await clock.advance(1_000);
  server.reachable = false;
  server.cutAll();
  await clock.advance(100);
  two.client.edit(BEN, 1, 'eins');
  await clock.advance(100);
  expect(seen(one.client)).toEqual(['eins edited …']);
  one.close();
  server.reachable = true;
  await clock.advance(70_000);
  expect(seen(two.client)).toEqual(['eins edited']);
  expect(server.talk('ana', 'ben').messages[0]?.body).toBe('eins');
});

test('a message far back is shown with those around it, and paging leads back to the newest', async () => {
  const { clock, online } = await talking(Array.from({ length: 180 }, (_, i) => `m${i + 1}`));
  const ben = (await online('ben')).client;
  ben.seen(ANA, 180);
  ben.open(ANA);
  await clock.advance(500);
  expect(ben.timeline(ANA).messages.some(one => one.seq === 3)).toBe(false);
  const seqs = () => ben.timeline(ANA).messages.map(one => one.seq);
  const shown = ben.show(ANA, 40);
  await clock.advance(2_000);
  expect(await shown).toBe(true);
  expect([seqs()[0], seqs().at(-1), ben.timeline(ANA).later, ben.timeline(ANA).more]).toEqual([
    16,
    65,
    true,
    true,
  ]);
  ben.send(ANA, 'meanwhile');
  await clock.advance(2_000);
  expect(seqs().at(-1)).toBe(65);
  ben.loadOlder(ANA);
  await clock.advance(2_000);
  expect([seqs()[0], ben.timeline(ANA).more]).toEqual([1, false]);
  for (let page = 0; page < 2; page++) {
    ben.loadNewer(ANA);
    await clock.advance(2_000);
  }
  expect([seqs().length, seqs().at(-1), ben.timeline(ANA).later]).toEqual([181, 181, undefined]);
  const never = ben.show(ANA, 999);
  await clock.advance(2_000);
  expect(await never).toBe(false);
  ben.send(ANA, 'after it');
  await clock.advance(2_000);
  expect(seqs().at(-1)).toBe(182);
});

test('from far back `show` returns to the newest messages at once, without loading the gap', async () => {
  const { clock, server, online } = await talking(Array.from({ length: 400 }, (_, i) => `m${i + 1}`));
  const ben = (await online('ben')).client;
  ben.seen(ANA, 400);
  ben.open(ANA);
  const shown = ben.show(ANA, 20);
  await clock.advance(2_000);
  expect(await shown).toBe(true);
  const asked = () => server.log.filter(one => one.command.t === 'history' && one.user === 'ben').length;
  const before = asked();
  await ben.show(ANA);
  await clock.advance(2_000);
  expect(ben.timeline(ANA).messages.at(-1)?.seq).toBe(400);
  expect([ben.timeline(ANA).later, asked()]).toEqual([undefined, before]);
});

test('tabs that get two changes in different orders agree on the later one', async () => {
  const { clock, server, browser, online } = world();
  const shared = browser();
  const one = await online('ana', shared);
  const two = await online('ana', shared);
  const three = await online('ana', shared);
  for (const tab of [one, two, three]) tab.client.open(BEN);
  one.client.send(BEN, 'one');
  await clock.advance(1_000);
  shared.delay = () => 40;
  two.client.react(BEN, 1, '👍', true);
  await clock.advance(1);
  three.client.react(BEN, 1, '👍', false);
  await clock.advance(2_000);
  expect([one, two, three].map(tab => seen(tab.client))).toEqual([['one'], ['one'], ['one']]);
  expect(server.talk('ana', 'ben').messages[0]?.reactions).toBeUndefined();
});
