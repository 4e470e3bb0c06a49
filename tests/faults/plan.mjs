// The faults of one round: which ones, when, and for how long. A seed and a topology decide them.

import { Random } from './random.mjs';

/**
 * The topologies that a run goes through, by name. Of several homes one serves, and the others stand by. Without fronts, the
 * node runs alone. With slots, each home is a node with a process for each of its slots.
 */
export const TOPOLOGIES = {
  single: { homes: 1, fronts: 0, nats: 0, database: 'sqlite' },
  sqlite: { homes: 1, fronts: 2, nats: 1, database: 'sqlite' },
  postgres: { homes: 1, fronts: 2, nats: 1, database: 'postgres' },
  standby: { homes: 2, fronts: 2, nats: 1, database: 'postgres' },
  slots: { homes: 2, fronts: 2, nats: 1, database: 'postgres', slots: 3 },
  replicated: { homes: 2, fronts: 2, nats: 3, database: 'postgres', replica: true },
};

/** Milliseconds from the begin of the traffic to the begin of a fault. */
const BEGINS = [300, 4_000];
/** How long each kind lasts, in milliseconds. Both sides of the three seconds after which a link ends. */
const LASTS = {
  kill: [200, 4_000],
  restart: [200, 3_000],
  freeze: [500, 6_000],
  cut: [200, 5_000],
  stall: [500, 6_000],
  delay: [1_000, 4_000],
  fill: [500, 5_000],
  drain: [0, 0],
  'fail over': [200, 3_000],
  'take over': [0, 0],
  clock: [500, 8_000],
};
const MOST_FAULTS = 3;
const DELAYS = [50, 400];
/** How far a clock jumps, in milliseconds, ahead or back. */
const JUMPS = [5_000, 2 * 86_400_000];

/**
 * All kinds of faults with their targets. `home` is the node with the home that serves at that moment, and `slot` its process for the
 * slot of the site.
 */
export function possibleFaults({ homes, fronts, nats, database, slots, replica, smallDisks, clocks }) {
  const numbered = (name, count) => Array.from({ length: count }, (_, at) => `${name}-${at + 1}`);
  const processes = [
    'home',
    ...(homes > 1 ? ['standby'] : []),
    ...(slots ? ['slot'] : []),
    ...numbered('front', fronts),
    ...numbered('nats', nats),
  ];
  // The process of a slot has the clock of its node.
  const clocked = [
    ...processes.filter(target => !target.startsWith('nats') && target !== 'slot'),
    ...(database === 'postgres' ? ['postgres'] : []),
  ];
  const serving = fronts > 0 ? numbered('front', fronts) : ['home'];
  const links = [
    ...serving.map(node => `members/${node}`),
    ...(nats > 0 ? ['home', ...numbered('front', fronts)].map(node => `nats/${node}`) : []),
    ...(database === 'postgres' ? ['postgres/home'] : []),
  ];
  return [
    ...processes.flatMap(target => [
      { kind: 'kill', target },
      { kind: 'freeze', target },
    ]),
    ...['home', ...numbered('front', fronts)].map(target => ({ kind: 'restart', target })),
    ...(database === 'postgres' ? ['kill', 'restart'].map(kind => ({ kind, target: 'postgres' })) : []),
    ...links.flatMap(target => ['cut', 'stall', 'delay'].map(kind => ({ kind, target }))),
    ...(replica ? ['kill', 'restart'].map(kind => ({ kind, target: 'replica' })) : []),
    ...(replica ? [{ kind: 'fail over', target: 'postgres' }] : []),
    ...(homes > 1 ? [{ kind: 'drain', target: 'home' }] : []),
    ...(smallDisks && database === 'sqlite' ? [{ kind: 'fill', target: 'disk/home' }] : []),
    // A home on PostgreSQL gives its role away instead.
    ...[...(database === 'sqlite' ? ['home'] : []), ...numbered('front', fronts)].map(target => ({
      kind: 'take over',
      target,
    })),
    ...(clocks ? clocked.map(target => ({ kind: 'clock', target })) : []),
  ];
}

/**
 * The plan of a round. Half of the rounds have one fault, so that their pauses have one cause. `rows`: only faults of these rows
 * of the table. `besides`: each round has a fault of these rows in addition.
 */
export function planOf(seed, topology, rows = [], besides = []) {
  const random = new Random(seed);
  const of = rows => {
    const found = possibleFaults(topology).filter(one => rows.includes(rowOf(one)));
    if (found.length === 0) throw new Error(`${topology.name} has none of these faults: ${rows.join(', ')}`);
    return found;
  };
  const possible = rows.length === 0 ? possibleFaults(topology) : of(rows);
  const faults = besides.length === 0 ? [] : [faultOf(random.pick(of(besides)), random)];
  // The end of one fault would heal another one of the same group.
  const isFree = fault => !faults.some(one => groupOf(one) === groupOf(fault));
  const groups = new Set(possible.filter(isFree).map(groupOf)).size;
  const count = faults.length + Math.min(groups, random.chance(0.5) ? 1 : random.between(2, MOST_FAULTS));
  while (faults.length < count) {
    const target = random.pick(possible);
    if (isFree(target)) faults.push(faultOf(target, random));
  }
  faults.sort((one, other) => one.at - other.at);
  return {
    seed,
    faults,
    // One member signs out in each round, and returns in the next one.
    leaver: random.next(),
    leavesAt: random.between(300, 4_000),
    returnsAt: random.between(0, 4_000),
    // The seed of what members write and read.
    traffic: random.between(1, 2 ** 31),
  };
}

function faultOf({ kind, target }, random) {
  const fault = { kind, target, at: random.between(...BEGINS), lasts: random.between(...LASTS[kind]) };
  if (kind === 'delay') fault.delay = random.between(...DELAYS);
  if (kind === 'clock') fault.jump = jump(random);
  return fault;
}

/**
 * Only one fault of each group is in a round. After a failover, the two servers of PostgreSQL have changed their parts. A process may
 * end, or be frozen, while its clock is wrong.
 */
export function groupOf({ kind, target }) {
  if (kind === 'clock') return `clock of ${target}`;
  return target === 'replica' ? 'postgres' : target;
}

/** Seconds are as likely as hours and days: the logarithm is spread evenly. */
function jump(random) {
  const [least, most] = JUMPS;
  const length = Math.round(least * (most / least) ** random.next());
  return random.chance(0.5) ? length : -length;
}

/** The row of a fault in the table of pauses: without the number of a process. */
export function rowOf({ kind, target }) {
  return `${kind} ${target.replace(/-\d+$/, '')}`;
}

export function described({ kind, target, at, lasts, delay, jump }) {
  const seconds = ms => `${(ms / 1_000).toFixed(1)} s`;
  const by =
    delay !== undefined ? ` by ${delay} ms` : jump !== undefined ? ` by ${Math.round(jump / 1_000)} s` : '';
  const long = lasts > 0 ? ` for ${seconds(lasts)}` : '';
  return `${kind} ${target}${by} at ${seconds(at)}${long}`;
}
