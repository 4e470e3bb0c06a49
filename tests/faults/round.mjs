// One round: members write while faults happen. Then everything is healed, and the record is judged.

import { disconnects, judge, longestPause } from './checker.mjs';
import { GRACE_MS } from './cluster.mjs';
import { differences } from './convergence.mjs';
import { pause, until } from './processes.mjs';
import { Random } from './random.mjs';

/** Traffic goes on for this time after the last fault was healed. */
const AFTER_MS = 1_500;
/** Without a frame for this time, members are quiet. */
const QUIET_MS = 1_500;
const QUIET_PATIENCE_MS = 90_000;
/** Presence and markers may take this long after that. */
const CONVERGES_MS = 20_000 + GRACE_MS;
const CONVERGES_EVERY_MS = 500;

/**
 * Returns `{violations, entries, pause, messages, ended, quietAfter}`. `ended`: sessions that the server ended although no fault
 * concerned their node; their messages had no answer yet.
 */
export async function playRound(community, plan) {
  const { cluster, members, history, archive } = community;
  for (const member of community.present) member.goBack();
  // Failures of the last round must not make the pauses of this one longer.
  await until('stable connections', () => community.present.every(({ isStable }) => isStable));
  const base = archive.tops();
  const random = new Random(plan.traffic);
  for (const member of members) member.random = new Random(random.between(1, 2 ** 31));
  const absent = members.filter(({ isHere }) => !isHere);
  const leaver = community.present[Math.floor(plan.leaver * community.present.length)];
  for (const member of community.present) member.write();

  const violations = [];
  const blame = rule => error => {
    violations.push({ rule, text: error.message });
  };
  const touched = new Set();
  const faults = plan.faults.map(async fault => {
    await pause(fault.at);
    await cluster.suffer(fault, { isAlone: plan.faults.length === 1 }).then(nodes => {
      for (const node of nodes) touched.add(node);
    }, blame('not healed'));
  });
  const returned = pause(plan.returnsAt).then(() => {
    for (const member of absent) {
      member.come();
      member.write();
    }
  });
  const left = pause(plan.leavesAt).then(async () => {
    leaver.stopWriting();
    const sent = until(`${leaver.user} to send all messages`, () => leaver.unsent === 0, QUIET_PATIENCE_MS);
    await sent.then(() => leaver.leave(), blame('not quiet'));
  });
  await Promise.all([...faults, returned]);
  await pause(AFTER_MS);
  for (const member of members) member.stopWriting();
  await cluster.recovered().catch(blame('not recovered'));
  const healed = performance.now();
  await left;
  await quiet(community).catch(blame('not quiet'));
  const quietAfter = performance.now() - healed;
  if (violations.length === 0) await check().catch(blame('not readable'));
  violations.push(...cluster.crashes());
  const entries = history.take();
  return {
    violations,
    entries,
    quietAfter,
    pause: longestPause(entries),
    messages: entries.filter(({ t }) => t === 'wrote').length,
    ended: entries.filter(
      ({ t, welcomed, by, node }) => t === 'ended' && welcomed && by === 'server' && !touched.has(node),
    ).length,
  };

  async function check() {
    const { fresh, records } = await community.look();
    violations.push(...(await community.readOn(fresh, records)));
    const { entries } = history;
    const conversations = new Map([...records].map(([user, one]) => [user, [...one.conversations.keys()]]));
    const { reached, written } = community;
    const judged = judge({ entries, archive, base, reached, members: conversations, written });
    violations.push(...judged.violations, ...disconnects({ entries, touched }));
    community.reached = judged.reached;
    violations.push(...(await converged(community, fresh, records)));
    for (const one of fresh.values()) one.leave();
    for (const member of community.present) member.forget();
  }
}

/** All members are online without unsent messages, and no frame comes any more. */
export async function quiet({ present, history }) {
  let seen = -1;
  let since = performance.now();
  let busy = [];
  await until(
    'members to be quiet',
    () => {
      busy = present.filter(member => !member.isOnline || member.unsent > 0);
      if (busy.length > 0 || history.entries.length !== seen) since = performance.now();
      seen = history.entries.length;
      return performance.now() - since > QUIET_MS;
    },
    QUIET_PATIENCE_MS,
  ).catch(error => {
    const states = busy.map(one => `${one.user} ${one.client.status().state}, ${one.unsent} unsent`);
    throw new Error(`${error.message}: ${states.join('; ')}`);
  });
}

/** Compares each member's client with a fresh one, until they agree or the time is over. */
async function converged({ members, present, archive }, fresh, records) {
  const presence = new Map(members.map(({ user, isHere }) => [user, isHere ? 'online' : 'offline']));
  let left = present;
  const end = performance.now() + CONVERGES_MS;
  for (;;) {
    const found = left.map(member => {
      const record = records.get(member.user);
      const shown = member.shown(record.conversations, member.contacts);
      return [member, differences({ shown, fresh: record, present: presence, archive })];
    });
    const differing = found.filter(([, texts]) => texts.length > 0);
    if (differing.length === 0) return [];
    if (performance.now() > end)
      return differing.flatMap(([{ user }, texts]) =>
        texts.map(text => ({ rule: 'not converged', text: `${user}: ${text}` })),
      );
    await pause(CONVERGES_EVERY_MS);
    left = differing.map(([member]) => member);
    for (const { user } of left) records.set(user, await fresh.get(user).look());
  }
}
