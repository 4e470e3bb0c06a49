// The processes and links of a topology, and what the faults do to them.

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../attacks/client.mjs';
import { Clock, clockLibrary } from './clock.mjs';
import { Disk } from './disk.mjs';
import { Link } from './link.mjs';
import { Nats, Node, ownPort, Postgres, pause, Refused, until } from './processes.mjs';
import { LIFE_S, tokenOf } from './token.mjs';

export const SITE = 'faults';
/** How long a user stays present after the last session was lost. Short, because rounds are. */
export const GRACE_MS = 4_000;

/** Members write as fast as they like. */
const SETTINGS = {
  KITH_XMPP_LISTEN: 'off',
  KITH_CALLS_LISTEN: '127.0.0.1:0',
  KITH_PUSH_ENABLED: 'false',
  KITH_LIMITS_SEND_BURST: '0',
  KITH_LIMITS_SEND_PER_MINUTE: '0',
  KITH_LIMITS_COMMAND_BURST: '0',
  KITH_LIMITS_COMMAND_PER_MINUTE: '0',
  KITH_LIMITS_SITE_SENDS_PER_SECOND: '0',
  KITH_LIMITS_REQUESTS_PER_USER: '0',
  KITH_PRESENCE_GRACE: `${GRACE_MS / 1_000}s`,
  KITH_STOP_GRACE: '2s',
  KITH_STOP_SPREAD: '2s',
  KITH_EDGE_WORKERS: '2',
};

/** The slot of the site, if there are several. */
const SLOT = 1;

/** After this time without a fault, a cluster that does not serve has not recovered. */
const RECOVERS_MS = 60_000;

export class Cluster {
  static async start(topology) {
    const root = await mkdtemp(join(tmpdir(), 'kith-faults-'));
    // PostgreSQL runs as another user, and must reach its directory below this one.
    await chmod(root, 0o711);
    await mkdir(join(root, 'run'), { mode: 0o700 });
    const cluster = new Cluster(topology, root);
    try {
      await cluster.#build();
    } catch (error) {
      await cluster.stop({ keep: true });
      throw new Error(`the cluster does not start; its data and logs: ${root}`, { cause: error });
    }
    return cluster;
  }

  constructor(topology, root) {
    this.topology = topology;
    this.root = root;
    this.processes = new Map();
    /** By name: `members/NODE`, `nats/NODE`, `postgres/NODE`. The links of a node with all servers of NATS count as one. */
    this.links = new Map();
    /** The disks of homes, by the name of the node. Empty without the option `smallDisks`. */
    this.disks = new Map();
  }

  get nodes() {
    return [...this.processes.values()].filter(one => one instanceof Node);
  }

  get homes() {
    return this.nodes.filter(({ name }) => name.startsWith('home'));
  }

  /** The nodes that serve members. With a standby, members are on fronts only. */
  get serving() {
    return this.homes.length > 1 ? this.nodes.filter(one => !this.homes.includes(one)) : this.nodes;
  }

  /** Host and port where members reach a node. */
  addressOf(node) {
    return `127.0.0.1:${this.links.get(`members/${node.name}`)[0].port}`;
  }

  async #build() {
    const { homes, fronts, nats, database, replica } = this.topology;
    const names = (name, count) => Array.from({ length: count }, (_, at) => `${name}-${at + 1}`);
    if (this.topology.clocks) this.clockLibrary = await clockLibrary(this.root);
    const postgres = name => new Postgres(name, this.root, { clock: this.#clock(name) });
    if (database === 'postgres') await this.#add(postgres('postgres-1'));
    if (replica) {
      const second = postgres('postgres-2');
      this.replica = second;
      await second.copy(this.primary);
      await this.#add(second);
      await this.#replicates();
    }
    const servers = [];
    const program = nats > 0 && (await Nats.program());
    const routes = [];
    for (let at = 0; at < nats; at += 1) routes.push(await ownPort());
    for (const [at, name] of names('nats', nats).entries()) {
      const port = await ownPort();
      servers.push(port);
      await this.#add(new Nats(name, this.root, { program, port, route: routes[at], routes }));
    }
    const secret = join(this.root, 'cluster.secret');
    await writeFile(secret, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    for (const name of [...names('home', homes), ...names('front', fronts)]) {
      const node = await this.#node(name, servers, secret);
      await this.#linked(`members/${name}`, [node.port]);
      await this.#add(node);
      if (name === 'home-1') await this.#settle(node);
    }
    await this.recovered();
    for (const node of this.serving) await this.#knowsSite(node);
  }

  /** A node that is not started yet, with its links to `servers` of NATS and to PostgreSQL. */
  async #node(name, servers, secret) {
    const { homes, database, slots, smallDisks } = this.topology;
    const isHome = name.startsWith('home');
    const settings = { ...SETTINGS };
    const flags = [];
    const node = new Node(name, this.root, {
      port: await ownPort(),
      settings,
      flags,
      clock: this.#clock(name),
    });
    if (servers.length > 0) {
      const ports = await this.#linked(`nats/${name}`, servers);
      const urls = ports.map(port => `nats://${Nats.USER}:${Nats.PASSWORD}@127.0.0.1:${port}`);
      settings.KITH_CLUSTER_NATS = urls.join(',');
      settings.KITH_CLUSTER_NAME = name;
      settings.KITH_CLUSTER_SECRET_FILE = secret;
      flags.push('--role', isHome ? 'home' : 'front');
      if (slots) settings.KITH_CLUSTER_SLOTS = String(slots);
    }
    if (!isHome) return node;
    if (database === 'postgres') settings.KITH_DATABASE = await this.#database(name);
    // Homes that take each other's place have the same files.
    if (homes > 1) settings.KITH_FILES_FOLDER = join(this.root, 'files');
    if (smallDisks && database === 'sqlite') this.disks.set(name, await Disk.mount(node.data));
    return node;
  }

  /** The clock of a process, if clocks can jump. */
  #clock(name) {
    return this.clockLibrary && new Clock(this.clockLibrary, join(this.root, `${name}.clock`));
  }

  async #add(process) {
    if (process instanceof Postgres) this.primary ??= process;
    this.processes.set(process.name, process);
    await process.start();
  }

  /** From now on, every acknowledged commit is on both servers of PostgreSQL. */
  async #replicates() {
    await until('the replica', () => this.primary.hasReplica());
    await this.primary.waitForReplica(true);
  }

  /** What a manager of replication does when the primary has died: the replica takes its place, and the dead one becomes a replica. */
  async #failOver(after) {
    const [dead, next] = [this.primary, this.replica];
    await dead.kill();
    await pause(after);
    await next.promote();
    [this.primary, this.replica] = [next, dead];
    await next.waitForReplica(false);
    await dead.copy(next);
    await dead.start();
    await this.#replicates();
  }

  /** Opens a link to each port. Returns the ports of the links. */
  async #linked(name, ports) {
    const links = [];
    for (const to of ports) {
      const port = await ownPort();
      links.push(Object.assign(await Link.open(port, to), { port }));
    }
    this.links.set(name, links);
    return links.map(({ port }) => port);
  }

  async #database(name) {
    const links = [];
    const dirs = [];
    for (const server of [...this.processes.values()].filter(one => one instanceof Postgres)) {
      const dir = join(this.root, 'link', name, server.name);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      links.push(await Link.open(join(dir, '.s.PGSQL.5432'), server.socket));
      dirs.push(encodeURIComponent(dir));
    }
    this.links.set(`postgres/${name}`, links);
    return `postgres://kith@${dirs.join(',')}/postgres`;
  }

  /** Adds the site of the members. */
  async #settle(home) {
    const slot = this.topology.slots ? ['--slot', String(SLOT)] : [];
    if (this.topology.slots) await until('a home', async () => (await this.#slots())?.[SLOT].home ?? false);
    const site = JSON.parse(await home.command('site', 'add', SITE, '--mode', 'open', '--json', ...slot));
    this.secret = site.secret;
    await home.command('site', 'set', SITE, 'requests.on=false', 'trust.on=false', 'raid.new_per_minute=0');
  }

  /** The home finds a new site within a second, and its fronts a moment later. */
  async #knowsSite(node) {
    await until(`${node.name} to know the site`, () =>
      this.enter('m01', node).then(
        client => {
          client.say({ t: 'bye' });
          client.leave();
          return true;
        },
        () => false,
      ),
    );
  }

  token(user) {
    return tokenOf(user, this.secret);
  }

  /** A fresh client, which knows nothing. `node`: any that serves. */
  enter(user, node = this.serving[0]) {
    return Client.enter(this.addressOf(node), { site: SITE, token: this.token(user) });
  }

  // -- faults --

  /** The process of `home`, `standby`, `postgres` and `replica` depends on which of them serves now. */
  async #processOf(target) {
    if (target === 'postgres') return this.primary;
    if (target === 'replica') return this.replica;
    if (target !== 'home' && target !== 'standby') return this.processes.get(target);
    const { homes } = this;
    if (homes.length === 1) return homes[0];
    if (this.topology.slots) {
      const name = (await this.#slots())?.[SLOT].home;
      const serving = homes.find(home => home.name === name) ?? homes[0];
      return target === 'home' ? serving : homes.find(home => home !== serving);
    }
    const ready = await Promise.all(
      homes.map(async home => home.isRunning && (await home.get('/readyz'))?.ok),
    );
    const serving = homes[Math.max(0, ready.indexOf(true))];
    return target === 'home' ? serving : homes.find(home => home !== serving);
  }

  /** The slots, as a node with homes sees them. */
  async #slots() {
    for (const home of this.homes) {
      const answer = home.isRunning && (await home.get('/cluster'));
      const state = answer?.ok && (await answer.json());
      if (state?.slots) return state.slots;
    }
  }

  /** The number of the process that is the home of the site's slot, or stands by for it. */
  async #processOfSlot() {
    return until('the process of a slot', async () => {
      const answers = await Promise.all(this.homes.map(home => home.isRunning && home.get('/cluster')));
      for (const [at, answer] of answers.entries()) {
        const row = answer?.ok && (await answer.json()).slots?.[SLOT];
        if (row?.pid && row.home === this.homes[at].name) return row.pid;
      }
    });
  }

  /** What an operator does before the machine of a node is shut down. */
  async #drained(node) {
    await node.command('cluster', 'drain');
    const isDrained = async () => {
      const slots = await node.get('/cluster').then(answer => answer?.ok && answer.json());
      return slots?.slots.every(slot => slot.pid === null);
    };
    await until(`${node.name} to be drained`, isDrained);
    await node.stop();
    await node.start();
  }

  /**
   * Carries a fault out, and ends when it is healed. Returns the names of the nodes whose members it may disconnect. `isAlone`: no
   * other fault happens in this round.
   */
  async suffer({ kind, target, lasts, delay, jump }, { isAlone }) {
    if (target.includes('/')) {
      const [what, name] = target.split('/');
      const node = (await this.#processOf(name)).name;
      if (what === 'disk') {
        const disk = this.disks.get(node);
        await disk.fill();
        await pause(lasts);
        await disk.free();
        return [];
      }
      const links = this.links.get(`${what}/${node}`);
      for (const link of links) {
        if (kind === 'cut') link.cut();
        if (kind === 'stall') link.stall();
        if (kind === 'delay') link.slow(delay);
      }
      await pause(lasts);
      for (const link of links) link.heal();
      return what === 'members' ? [node] : [];
    }
    if (kind === 'fail over') {
      await this.#failOver(lasts);
      return [];
    }
    if (target === 'slot') {
      const pid = await this.#processOfSlot();
      signal(pid, kind === 'kill' ? 'SIGKILL' : 'SIGSTOP');
      await pause(lasts);
      signal(pid, 'SIGCONT');
      return [];
    }
    const process = await this.#processOf(target);
    switch (kind) {
      case 'kill':
        await process.kill();
        await pause(lasts);
        await process.start();
        break;
      case 'restart':
        await process.stop();
        await pause(lasts);
        await process.start();
        break;
      case 'freeze':
        process.freeze();
        await pause(lasts);
        process.thaw();
        break;
      case 'clock': {
        process.clock.jump(jump);
        await pause(lasts);
        process.clock.jump(0);
        // Only tokens that are over by the clock of a home may end sessions, on all nodes.
        const isOver = this.homes.includes(process) && jump >= LIFE_S * 1_000;
        return isOver ? this.nodes.map(({ name }) => name) : [];
      }
      case 'drain':
        await (this.topology.slots ? this.#drained(process) : process.command('cluster', 'drain')).catch(
          error => {
            // While the other home is dead, this one keeps its role.
            if (isAlone || !/no other (home|node)/.test(error.message)) throw error;
          },
        );
        return [];
      case 'take over':
        await process.takeOver().catch(error => {
          // On a full disk or without NATS, the new process refuses. Then the old one must go on.
          if (isAlone || !(error instanceof Refused)) throw error;
        });
        // Its promise is that nobody notices.
        return [];
    }
    return [process.name];
  }

  /** Waits until each slot has its home, and each front all links. */
  async recovered() {
    const missing = async () => {
      if (this.topology.slots) {
        const slots = await this.#slots();
        const isPlaced = slots?.every(slot => slot.home !== null && slot.home === slot.wanted);
        if (!isPlaced) return this.homes;
      }
      const serve = await Promise.all(this.nodes.map(async node => [node, await node.serves()]));
      const away = serve.filter(([, serves]) => !serves).map(([node]) => node);
      if (this.topology.slots) return away;
      const standbys = away.filter(node => this.homes.includes(node) && node.isRunning);
      if (standbys.length === this.homes.length - 1) return away.filter(node => !standbys.includes(node));
      return away;
    };
    let away = [];
    await until(
      'the cluster to recover',
      async () => {
        away = await missing();
        return away.length === 0;
      },
      RECOVERS_MS,
    ).catch(error => {
      throw new Error(`${error.message}: ${away.map(({ name }) => name).join(', ')}`);
    });
  }

  /** What no process may do: panic, or end by a signal that nobody sent. */
  crashes() {
    const found = [];
    for (const node of this.nodes) {
      const PANIC = 101;
      for (const end of node.ends.splice(0)) {
        if (typeof end === 'string' || end === PANIC)
          found.push({ rule: 'crashed', text: `${node.name}: ${end}` });
      }
      const panic = /^.*panicked at.*$/m.exec(node.log());
      if (panic) found.push({ rule: 'crashed', text: `${node.name}: ${panic[0]}` });
    }
    return found;
  }

  async stop({ keep = false } = {}) {
    for (const process of [...this.processes.values()].reverse()) {
      process.thaw();
      await (process instanceof Postgres ? process.stop() : process.kill());
    }
    for (const [name, disk] of this.disks) await disk.unmount(keep && join(this.root, `${name}.data`));
    for (const links of this.links.values()) for (const link of links) await link.close();
    if (!keep) await rm(this.root, { recursive: true, force: true });
  }
}

/** The process may have ended already. */
function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
