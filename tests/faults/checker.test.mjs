// The checker finds each fault that it is made for, and accepts what the protocol permits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Archive } from './archive.mjs';
import { disconnects, judge, longestPause } from './checker.mjs';

const ANNA = 'anna';
const TOM = 'tom';

/** The entries of one round in the conversation `c`, which has one message of before: seq 1. */
function round(entries, stored, { reached = new Map() } = {}) {
  const archive = new Archive();
  archive.add('c', [{ seq: 1, id: 'before', from: ANNA }]);
  const base = archive.tops();
  const found = archive.add('c', stored);
  const written = new Map([['before', ANNA]]);
  for (const { t, id, member } of entries) if (t === 'wrote') written.set(id, member);
  const members = new Map([
    [ANNA, ['c']],
    [TOM, ['c']],
  ]);
  const { violations } = judge({ entries, archive, base, reached, members, written });
  return [...found, ...violations].map(({ rule }) => rule);
}

const wrote = (id, member = ANNA) => ({ t: 'wrote', id, member, to: '@x' });
const sent = (id, member = ANNA, session = 1) => ({ t: 'sent', id, member, session });
const acked = (id, seq, member = ANNA, session = 1) => ({
  t: 'acked',
  ...{ id, seq, member, session, conversation: 'c' },
});
const delivered = (id, seq, { from = ANNA, member = TOM, session = 2 } = {}) => ({
  t: 'delivered',
  ...{ id, seq, from, member, session, conversation: 'c' },
});
const stored = (...ids) => ids.map((id, at) => ({ seq: at + 2, id, from: id.startsWith('t') ? TOM : ANNA }));
const hello = (member = TOM, session = 3) => ({ t: 'hello', member, session });
const welcome = (
  ids,
  { member = TOM, session = 3, resumed = true, tops = {}, gaps = [], first = 2 } = {},
) => ({
  t: 'welcome',
  ...{ member, session, resumed, tops, gaps },
  messages: ids.map((id, at) => ({ conversation: 'c', seq: first + at, id, from: ANNA })),
});
const whole = (id, seq) => [wrote(id), sent(id), acked(id, seq), delivered(id, seq)];

test('messages that are stored, acknowledged and delivered in order are no violation', () => {
  assert.deepEqual(round([...whole('a1', 2), ...whole('a2', 3)], stored('a1', 'a2')), []);
});

test('a repeated message that is acknowledged twice with its first seq is no violation', () => {
  const entries = [
    wrote('a1'),
    sent('a1'),
    sent('a1', ANNA, 4),
    acked('a1', 2, ANNA, 4),
    acked('a1', 2, ANNA, 4),
  ];
  assert.deepEqual(round(entries, stored('a1')), []);
});

test('an acknowledged message that is not in the history is lost', () => {
  assert.ok(round(whole('a1', 2), []).includes('lost'));
});

test('a delivered message that is not in the history is lost', () => {
  const entries = [wrote('a1'), sent('a1'), delivered('a1', 2)];
  assert.ok(round(entries, []).includes('lost'));
});

test('a message without an acknowledgement that is not in the history is missing, because its sender is quiet', () => {
  assert.deepEqual(round([wrote('a1'), sent('a1')], []), ['missing']);
});

test('a message that is in the history twice is doubled', () => {
  assert.ok(round(whole('a1', 2), stored('a1', 'a1')).includes('doubled'));
});

test('a message of an earlier round that is stored again is doubled', () => {
  assert.ok(round([], stored('before')).includes('doubled'));
});

test('a missing seq in the history is a gap', () => {
  assert.ok(round(whole('a1', 3), [{ seq: 3, id: 'a1', from: ANNA }]).includes('gap'));
});

test('a message with another seq than its acknowledgement is moved', () => {
  assert.ok(round([wrote('a1'), sent('a1'), acked('a1', 3)], stored('a1')).includes('moved'));
});

test('a message that nobody wrote is unknown', () => {
  assert.deepEqual(round([], stored('a1')), ['unknown']);
});

test('a message that was acknowledged before another one was sent must have the lower seq', () => {
  const entries = [
    ...[wrote('a1'), sent('a1'), acked('a1', 3)],
    ...[wrote('t1', TOM), sent('t1', TOM, 2), acked('t1', 2, TOM, 2)],
  ];
  assert.ok(round(entries, stored('t1', 'a1')).includes('order'));
});

test('messages that were sent at the same time may have any order', () => {
  const entries = [
    ...[wrote('a1'), sent('a1'), wrote('t1', TOM), sent('t1', TOM, 2)],
    ...[delivered('t1', 2, { from: TOM, member: ANNA, session: 1 }), acked('t1', 2, TOM, 2)],
    ...[acked('a1', 3), delivered('a1', 3)],
  ];
  assert.deepEqual(round(entries, stored('t1', 'a1')), []);
});

test('messages of one member keep the order in which they were written', () => {
  const entries = [wrote('a1'), wrote('a2'), sent('a1'), sent('a2'), acked('a2', 2), acked('a1', 3)];
  assert.ok(round(entries, stored('a2', 'a1')).includes("sender's order"));
});

test('a session that gets a later seq first is out of order', () => {
  const entries = [
    ...[wrote('a1'), wrote('a2'), sent('a1'), sent('a2'), acked('a1', 2), acked('a2', 3)],
    ...[delivered('a2', 3), delivered('a1', 2)],
  ];
  assert.deepEqual(round(entries, stored('a1', 'a2')), ['left out']);
});

test('a message that a session gets twice is no violation', () => {
  assert.deepEqual(round([...whole('a1', 2), delivered('a1', 2)], stored('a1')), []);
});

test('a member who sees another message at a seq than the history has is a violation', () => {
  const entries = [...whole('a1', 2), ...[wrote('a2'), sent('a2'), acked('a2', 3), delivered('a1', 3)]];
  assert.deepEqual(round(entries, stored('a1', 'a2')), ['differs']);
});

test('a welcome without a message that was acknowledged before the hello is stale', () => {
  const entries = [wrote('a1'), sent('a1'), acked('a1', 2), hello(), welcome([])];
  assert.deepEqual(round(entries, stored('a1')), ['stale']);
});

test('a welcome without a message that was acknowledged after the hello is fresh enough', () => {
  const entries = [wrote('a1'), sent('a1'), hello(), acked('a1', 2), welcome([]), delivered('a1', 2)];
  assert.deepEqual(round(entries, stored('a1')), []);
});

test('a first page brings the newest seq and no violation', () => {
  const entries = [
    ...[wrote('a1'), sent('a1'), acked('a1', 2), hello()],
    welcome([], { resumed: false, tops: { c: 2 } }),
    ...[wrote('a2'), sent('a2'), acked('a2', 3), delivered('a2', 3, { session: 3 })],
  ];
  assert.deepEqual(round(entries, stored('a1', 'a2')), []);
});

test('a welcome that leaves a message out, without a gap, is a violation', () => {
  const entries = [
    ...[wrote('a1'), wrote('a2'), sent('a1'), sent('a2'), acked('a1', 2), acked('a2', 3)],
    ...[hello(), welcome(['a2'], { first: 3 })],
  ];
  assert.deepEqual(round(entries, stored('a1', 'a2')), ['left out']);
  entries.splice(-1, 1, welcome(['a2'], { first: 3, gaps: ['c'] }));
  assert.deepEqual(round(entries, stored('a1', 'a2')), []);
});

test('a welcome whose conversation ends after its messages is a violation', () => {
  const entries = [...[wrote('a1'), sent('a1'), hello(), acked('a1', 2)], welcome([], { tops: { c: 2 } })];
  assert.deepEqual(round(entries, stored('a1')), ['left out']);
});

test('a session that is behind gets its own acknowledgements early, and the rest by the changes', () => {
  const own = [wrote('t1', TOM), sent('t1', TOM, 2)];
  const before = [wrote('a1'), sent('a1'), acked('a1', 2), { t: 'behind', member: TOM, session: 2 }];
  const resume = { t: 'resume', member: TOM, session: 2 };
  const changes = { ...welcome(['a1'], { session: 2 }), t: 'changes' };
  const early = [...before, ...own, acked('t1', 3, TOM, 2), resume];
  assert.deepEqual(round([...early, changes], stored('a1', 't1')), []);
  assert.deepEqual(round([...early, { ...changes, messages: [] }], stored('a1', 't1')), ['left out']);
});

test('a member who was away in the last round continues at the seq of then', () => {
  const reached = new Map([[TOM, new Map([['c', 0]])]]);
  const entries = [hello(), welcome(['before'], { first: 1 })];
  assert.deepEqual(round(entries, [], { reached }), []);
  assert.deepEqual(round([hello(), welcome([])], [], { reached }), ['stale']);
});

const ended = more => ({
  t: 'ended',
  member: TOM,
  session: 2,
  node: 'front-1',
  by: 'server',
  welcomed: true,
  ...more,
});

test('a session that ends without a fault of its node is a violation, unless its messages had no answer', () => {
  const rules = (entries, touched = []) =>
    disconnects({ entries, touched: new Set(touched) }).map(({ rule }) => rule);
  assert.deepEqual(rules([ended({})]), ['disconnected']);
  assert.deepEqual(rules([sent('t1', TOM, 2), acked('t1', 2, TOM, 2), ended({})]), ['disconnected']);
  assert.deepEqual(rules([sent('t1', TOM, 2), ended({})]), []);
  assert.deepEqual(rules([ended({})], ['front-1']), []);
  assert.deepEqual(rules([ended({ by: 'client' })]), []);
  assert.deepEqual(rules([ended({ welcomed: false })]), []);
});

test('a history that differs at the end of a run is a violation', () => {
  const archive = new Archive();
  archive.add(
    'c',
    stored('a1').map(one => ({ ...one, seq: 1 })),
  );
  assert.deepEqual(archive.compare('c', [{ seq: 1, id: 'a1' }]), []);
  assert.equal(archive.compare('c', [{ seq: 1, id: 'a2' }])[0].rule, 'history changed');
  assert.equal(archive.compare('c', [])[0].rule, 'history changed');
});

test('a pause lasts from writing to the first acknowledgement, or to the sign-in that brings the message', () => {
  const entries = [
    { ...wrote('a1'), at: 100 },
    { ...sent('a1'), at: 400 },
    { ...delivered('a1', 2), at: 500 },
    { ...acked('a1', 2), at: 900 },
    { ...acked('a1', 2), at: 5_000 },
  ];
  assert.equal(longestPause(entries), 800);
  const signIn = welcome(['a2'], { member: ANNA });
  assert.equal(longestPause([...entries, { ...wrote('a2'), at: 5_000 }, { ...signIn, at: 9_000 }]), 4_000);
});
