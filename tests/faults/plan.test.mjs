// The plan of a round follows from its seed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pauses } from './pauses.mjs';
import { groupOf, planOf, possibleFaults, rowOf, TOPOLOGIES } from './plan.mjs';

const SEEDS = Array.from({ length: 300 }, (_, at) => at);

test('a seed gives the same plan each time, and other seeds give others', () => {
  const { postgres } = TOPOLOGIES;
  assert.deepEqual(planOf(7, postgres), planOf(7, postgres));
  assert.notDeepEqual(planOf(7, postgres), planOf(8, postgres));
});

for (const [name, topology] of Object.entries({
  ...TOPOLOGIES,
  small_disk: { ...TOPOLOGIES.sqlite, smallDisks: true },
  clocks: { ...TOPOLOGIES.standby, clocks: true },
  three_servers: { ...TOPOLOGIES.standby, nats: 3 },
})) {
  test(`in ${name}, rounds have one to three faults of different groups, and each possible fault comes`, () => {
    const seen = new Set();
    for (const { faults } of SEEDS.map(seed => planOf(seed, topology))) {
      assert.ok(faults.length >= 1 && faults.length <= 3);
      assert.equal(new Set(faults.map(groupOf)).size, faults.length);
      for (const { kind, target } of faults) seen.add(`${kind} ${target}`);
    }
    const possible = possibleFaults(topology).map(({ kind, target }) => `${kind} ${target}`);
    assert.deepEqual([...seen].sort(), possible.sort());
  });
}

test('a plan may be limited to some rows of the table', () => {
  for (const seed of SEEDS) {
    const { faults } = planOf(seed, TOPOLOGIES.sqlite, ['kill home']);
    assert.deepEqual(faults.map(rowOf), ['kill home']);
  }
  assert.throws(() => planOf(1, TOPOLOGIES.single, ['kill nats']), /none of these faults/);
});

test('clocks of nodes jump ahead and back, by seconds up to two days, also while their process ends', () => {
  const jumping = { ...TOPOLOGIES.standby, clocks: true };
  const rounds = SEEDS.map(
    seed => planOf(seed, jumping, ['clock home', 'clock standby', 'kill home']).faults,
  );
  const jumps = rounds.flat().flatMap(({ jump }) => jump ?? []);
  const [SHORT, LONG] = [60_000, 6 * 3_600_000];
  for (const side of [jumps.filter(jump => jump > 0), jumps.filter(jump => jump < 0).map(jump => -jump)]) {
    assert.ok(side.some(jump => jump < SHORT) && side.some(jump => jump > LONG));
    assert.ok(side.every(jump => jump >= 5_000 && jump <= 2 * 86_400_000));
  }
  const kinds = rounds.map(faults =>
    faults.filter(({ target }) => target === 'home').map(({ kind }) => kind),
  );
  assert.ok(kinds.some(both => both.length === 2));
  assert.throws(() => planOf(1, TOPOLOGIES.standby, ['clock home']), /none of these faults/);
});

test('each round may have a fault of some rows in addition to others', () => {
  const jumping = { ...TOPOLOGIES.replicated, clocks: true };
  const clocks = ['clock home', 'clock front'];
  for (const seed of SEEDS) {
    const { faults } = planOf(seed, jumping, ['kill home', 'cut nats/front', 'clock home'], clocks);
    assert.ok(faults.length >= 2 && faults.some(one => clocks.includes(rowOf(one))));
    assert.equal(new Set(faults.map(groupOf)).size, faults.length);
  }
  assert.equal(
    planOf(1, { ...TOPOLOGIES.single, clocks: true }, ['clock home'], ['clock home']).faults.length,
    1,
  );
});

test('a round has one fault of the servers of PostgreSQL', () => {
  const servers = ['postgres', 'replica'];
  const counts = SEEDS.map(
    seed =>
      planOf(seed, TOPOLOGIES.replicated).faults.filter(({ target }) => servers.includes(target)).length,
  );
  assert.equal(Math.max(...counts), 1);
  const only = ['kill postgres', 'kill replica', 'fail over postgres'];
  for (const seed of SEEDS) assert.equal(planOf(seed, TOPOLOGIES.replicated, only).faults.length, 1);
});

test('the table of pauses has a row for each kind of fault, and one for rounds with several', () => {
  const pauses = new Pauses();
  const kill = { kind: 'kill', target: 'front-2', lasts: 1_000 };
  pauses.add([kill], { pause: 2_000, ended: 0 });
  pauses.add([{ ...kill, target: 'front-1', lasts: 3_000 }], { pause: 5_000, ended: 3 });
  pauses.add([kill, { ...kill, target: 'home' }], { pause: 9_000, ended: 4 });
  const rows = pauses.text().split('\n').slice(2);
  assert.deepEqual(rows, [
    '| kill front | 2 | 2.0 s | 3.5 s | 5.0 s | 1.5 |',
    '| several in one round | 1 | – | 9.0 s | 9.0 s | 4 |',
  ]);
});
