// The driver of faults: real processes on loopback, members with the widget's client, faults by seed, and a checker of the history.
// `make faults` runs it. See docs/design/faults.md.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster } from './cluster.mjs';
import { Community } from './community.mjs';
import { widgetClient } from './members.mjs';
import { Pauses } from './pauses.mjs';
import { described, planOf, TOPOLOGIES } from './plan.mjs';
import { playRound, quiet } from './round.mjs';

const USAGE = `node tests/faults/run.mjs [--rounds N] [--seed S] [--topology ${Object.keys(TOPOLOGIES).join(',')}]
    [--homes N] [--fronts N] [--nats N] [--members N] [--small-disks] [--no-clocks]
    [--faults 'kill home,cut nats/front'] [--besides 'clock home'] [--keep-going] [--plan]

KITH_BIN names the binary. Round number i has the seed S + i - 1: --seed repeats its faults, not the order in which
processes and members run. --faults allows only these rows of the table. --besides adds a fault of these rows to each round.
--small-disks gives homes on SQLite a disk of their own, which a fault can fill (root on Linux). --no-clocks leaves out the jumps
of clocks, which need Linux and a C compiler. --plan prints the faults and ends. --keep-going begins with a new cluster after a
violation.`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    topology: { type: 'string', default: Object.keys(TOPOLOGIES).join(',') },
    homes: { type: 'string' },
    fronts: { type: 'string' },
    nats: { type: 'string' },
    members: { type: 'string', default: '12' },
    faults: { type: 'string', default: '' },
    besides: { type: 'string', default: '' },
    'keep-going': { type: 'boolean', default: false },
    'small-disks': { type: 'boolean', default: false },
    'no-clocks': { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** A contact is the next member or the one after, so fewer would be their own contacts. */
const LEAST_MEMBERS = 5;

function number(name, least) {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= least) return value;
  console.error(`--${name} must be a number of at least ${least}\n\n${USAGE}`);
  process.exit(2);
}

function topologies() {
  return values.topology.split(',').map(name => {
    const topology = TOPOLOGIES[name];
    if (!topology) {
      console.error(`no topology ${name}\n\n${USAGE}`);
      process.exit(2);
    }
    const changed = ['homes', 'fronts', 'nats'].filter(one => values[one] !== undefined);
    const smallDisks = values['small-disks'];
    const clocks = process.platform === 'linux' && !values['no-clocks'];
    return {
      name,
      ...topology,
      smallDisks,
      clocks,
      ...Object.fromEntries(changed.map(one => [one, number(one, 1)])),
    };
  });
}

/** Each topology gets its share of the rounds. */
function rounds() {
  const all = topologies();
  const count = number('rounds', 1);
  const seed = number('seed', 0);
  const rows = list => list.split(',').filter(row => row !== '');
  return Array.from({ length: count }, (_, at) => {
    const topology = all[Math.floor((at * all.length) / count)];
    return {
      number: at + 1,
      count,
      topology,
      plan: planOf(seed + at, topology, rows(values.faults), rows(values.besides)),
    };
  });
}

let community;
let modules;

async function begin(topology) {
  const cluster = await Cluster.start(topology);
  community = { cluster };
  modules ??= await widgetClient(join(cluster.root, 'widget'));
  community = await Community.settle(cluster, number('members', LEAST_MEMBERS), modules);
  for (const member of community.members) member.come();
  await quiet(community);
  const { fresh, records } = await community.look();
  await community.readOn(fresh, records);
  for (const one of fresh.values()) one.leave();
  community.history.take();
}

/** Ends the cluster after its last round. Returns the violations of its whole history. */
async function end() {
  const { fresh, records } = await community.look();
  const found = await community.readAgain(fresh, records);
  await stop({ keep: found.length > 0 });
  return found;
}

async function stop({ keep }) {
  const last = community;
  community = undefined;
  for (const member of last?.members ?? []) member.client.close();
  await last?.cluster.stop({ keep });
  if (keep) console.log(`  data and logs: ${last.cluster.root}`);
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    console.log('\nending');
    await stop({ keep: false }).catch(() => {});
    process.exit(130);
  });

const seconds = ms => `${(ms / 1_000).toFixed(1)} s`;

function report(
  { number: at, count, topology, plan },
  { messages, pause, ended, quietAfter, violations },
  took,
) {
  const verdict = violations.length === 0 ? 'ok' : `${violations.length} VIOLATIONS`;
  console.log(
    `${at}/${count} ${topology.name} seed ${plan.seed}: ${plan.faults.map(described).join(' + ')}; ${messages} messages, ` +
      `longest pause ${seconds(pause)}, ${ended} sessions of other nodes ended, quiet ${seconds(quietAfter)} after; ${seconds(took)}: ${verdict}`,
  );
  const SHOWN = 20;
  for (const { rule, text } of violations.slice(0, SHOWN)) console.log(`  ${rule}: ${text}`);
  if (violations.length > SHOWN) console.log(`  and ${violations.length - SHOWN} more`);
}

async function main() {
  const all = rounds();
  if (values.help) return console.log(USAGE);
  if (values.plan) {
    for (const { topology, plan } of all)
      console.log(`${topology.name} seed ${plan.seed}: ${plan.faults.map(described).join(' + ')}`);
    return;
  }
  const pauses = new Pauses();
  const totals = new Map();
  let violated = 0;
  for (const [at, round] of all.entries()) {
    const { topology, plan } = round;
    if (!community) await begin(topology);
    const began = performance.now();
    const outcome = await playRound(community, plan);
    report(round, outcome, performance.now() - began);
    pauses.add(plan.faults, outcome);
    const total = totals.get(topology.name) ?? { rounds: 0, messages: 0, violated: 0 };
    totals.set(topology.name, total);
    total.rounds += 1;
    total.messages += outcome.messages;
    if (outcome.violations.length > 0) {
      total.violated += 1;
      violated += 1;
      const file = join(community.cluster.root, `history-${plan.seed}.jsonl`);
      await writeFile(file, `${outcome.entries.map(one => JSON.stringify(one)).join('\n')}\n`);
      await stop({ keep: true });
      if (!values['keep-going']) break;
    } else if (all[at + 1]?.topology !== topology) {
      const found = await end();
      for (const { rule, text } of found) console.log(`  ${rule}: ${text}`);
      if (found.length > 0) violated += 1;
    }
  }
  console.log('');
  for (const [name, { rounds, messages, violated }] of totals)
    console.log(`${name}: ${rounds} rounds, ${messages} messages, ${violated} rounds with violations`);
  console.log(`\n${pauses.text()}`);
  process.exit(violated > 0 ? 1 : 0);
}

main().catch(async error => {
  console.error(error);
  await stop({ keep: true }).catch(() => {});
  process.exit(1);
});
