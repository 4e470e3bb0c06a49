// The processes of a run. Each can be killed, frozen and started again, and ends with the driver.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const BINARY =
  process.env.KITH_BIN ?? fileURLToPath(new URL('../../target/debug/kith', import.meta.url));
const script = name => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));

const run = promisify(execFile);
export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Leaves out the variables of the tests: the binary would read all variables that begin with KITH_ as settings. */
const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KITH_')));

/** Linux ends the child even if the driver is killed. */
const SETPRIV = '/usr/bin/setpriv';
const bound = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--'] : [];

/** A busy machine starts an unoptimised node in some seconds. */
const PATIENCE_MS = 60_000;
const LOOKS_MS = 50;

const alive = new Set();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Waits until `look` returns a value that is neither undefined nor false. */
export async function until(what, look, patience = PATIENCE_MS) {
  const end = performance.now() + patience;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await pause(LOOKS_MS);
  }
}

/** A free port below those that the kernel gives to outgoing connections, so that it stays free while its process is down. */
export async function ownPort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise(resolve => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** One program that is started again after each death. */
class Program {
  /** How often it ended by itself, and with what. */
  ends = [];

  constructor(name, root) {
    this.name = name;
    this.root = root;
    this.wanted = false;
  }

  get pid() {
    return this.child?.pid;
  }

  get isRunning() {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  log() {
    return readFileSync(join(this.root, `${this.name}.log`), 'utf8');
  }

  spawn(words, { env = {}, stdin = 'ignore' } = {}) {
    const [program, ...args] = stdin === 'pipe' ? words : [...bound, ...words];
    const child = spawn(program, args, {
      stdio: [stdin, 'pipe', 'pipe'],
      // A group of its own: Ctrl-C ends the driver only, which then ends its processes in order.
      detached: true,
      env: { ...outside, XDG_RUNTIME_DIR: join(this.root, 'run'), ...env },
    });
    // A program with an input ends with its input, and ends its own processes itself.
    if (stdin !== 'pipe') alive.add(child);
    const log = createWriteStream(join(this.root, `${this.name}.log`), { flags: 'a' });
    child.once('exit', () => alive.delete(child));
    child.stderr.pipe(log);
    if (stdin !== 'pipe') child.stdout.pipe(log, { end: false });
    return child;
  }

  async start() {
    this.wanted = true;
    this.child = this.begin();
    this.keepUp(this.child);
    await this.ready();
  }

  /** Does what a service manager does: starts it again after it has ended by itself. */
  keepUp(child) {
    child.once('exit', async (code, signal) => {
      if (!this.wanted || this.child !== child) return;
      this.ends.push(signal ?? code);
      await pause(500);
      if (!this.wanted || this.child !== child) return;
      this.child = this.begin();
      this.keepUp(this.child);
    });
  }

  async kill() {
    this.wanted = false;
    await this.signalled('SIGKILL');
  }

  freeze() {
    if (this.isRunning) this.child.kill('SIGSTOP');
  }

  thaw() {
    if (this.isRunning) this.child.kill('SIGCONT');
  }

  async signalled(signal) {
    const { child } = this;
    if (!this.isRunning) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Ends it as an operator does, and by force after some seconds. */
  async stop() {
    this.wanted = false;
    const { child } = this;
    const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await this.signalled('SIGTERM');
    clearTimeout(force);
  }
}

/** One server of NATS. `routes`: the ports of all servers for each other; none for a single server. */
export class Nats extends Program {
  static USER = 'kith';
  static PASSWORD = 'only-for-this-run';

  static async program() {
    return (await run(script('nats.sh'))).stdout.trim();
  }

  constructor(name, root, { program, port, route, routes }) {
    super(name, root);
    Object.assign(this, { program, port, route, routes });
  }

  begin() {
    const cluster =
      this.routes.length > 1
        ? [
            ...['--cluster', `nats://127.0.0.1:${this.route}`, '--cluster_name', 'faults', '--no_advertise'],
            ...['--routes', this.routes.map(port => `nats://127.0.0.1:${port}`).join(',')],
          ]
        : [];
    const listen = ['-a', '127.0.0.1', '-p', String(this.port)];
    return this.spawn([this.program, ...listen, '--user', Nats.USER, '--pass', Nats.PASSWORD, ...cluster]);
  }

  async ready() {
    await pause(0);
  }
}

/** PostgreSQL on a socket in `dir`, by scripts/postgres.sh. `clock`: its own one, if it can jump. */
export class Postgres extends Program {
  constructor(name, root, { clock }) {
    super(name, root);
    this.clock = clock;
    this.dir = join(root, name);
    this.socket = join(this.dir, '.s.PGSQL.5432');
  }

  begin() {
    // Only processes die here, never the machine, so nothing needs to be on the disk.
    const env = { KITH_POSTGRES_OPTIONS: '-c fsync=off -c shared_buffers=64MB', ...this.clock?.env };
    const child = this.spawn(['bash', script('postgres.sh'), 'run', this.dir], { env, stdin: 'pipe' });
    this.listens = new Promise(resolve => child.stdout.once('data', () => resolve(true)));
    child.stdin.on('error', () => {});
    return child;
  }

  async ready() {
    // After a kill, the first tries can fail, because processes of the dead server still have its memory.
    await until('PostgreSQL', () => Promise.race([this.listens, pause(LOOKS_MS).then(() => false)]));
  }

  /** Becomes a replica of `primary`. It must not run, and its data are lost. */
  async copy(primary) {
    await run('bash', [script('postgres.sh'), 'copy', primary.dir, this.dir]);
  }

  /** Takes writes from now on. It is a replica now. */
  async promote() {
    await run('bash', [script('postgres.sh'), 'promote', this.dir]);
  }

  /** Runs statements, each in a transaction of its own. Returns the first value of the last one. */
  async query(...statements) {
    this.programs ??= (await run(script('postgres.sh'))).stdout.trim();
    const words = [
      '-h',
      this.dir,
      '-U',
      'kith',
      '-qtA',
      'postgres',
      ...statements.flatMap(sql => ['-c', sql]),
    ];
    return (await run(join(this.programs, 'psql'), words)).stdout.trim();
  }

  /** With a synchronous replica, a commit is acknowledged when the replica has it, too. */
  async waitForReplica(isOn) {
    const names = isOn ? '*' : '';
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`, 'SELECT pg_reload_conf()');
  }

  /** A replica receives everything that is written now. */
  async hasReplica() {
    return (await this.query(`SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'`)) === '1';
  }

  #postmaster() {
    return Number(readFileSync(join(this.dir, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  }

  async kill() {
    process.kill(this.#postmaster(), 'SIGKILL');
    await this.stop();
  }

  /** The script ends the server when its input ends. */
  async stop() {
    this.wanted = false;
    const { child } = this;
    if (!this.isRunning) return;
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  }
}

/** A process does not take over, and the old one goes on. */
export class Refused extends Error {}

/** A node of Kith. `settings`: variables that the binary reads. `flags`: of `kith serve`. `clock`: its own one, if it can jump. */
export class Node extends Program {
  constructor(name, root, { port, settings, flags, clock }) {
    super(name, root);
    Object.assign(this, { port, settings, flags, clock });
    this.http = `127.0.0.1:${port}`;
    this.data = join(root, name);
  }

  begin(...more) {
    return this.spawn(
      [BINARY, 'serve', '--data', this.data, '--http', this.http, '--metrics-public', ...this.flags, ...more],
      { env: { ...this.settings, ...this.clock?.env } },
    );
  }

  /** Returns when the process answers. Whether it serves, or has a link, is another question. */
  async ready() {
    await until(`${this.name} to answer`, async () => (await this.get('/healthz'))?.ok);
  }

  get(path) {
    return fetch(`http://${this.http}${path}`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  }

  /** Does it serve members, as the home or with links to all homes? */
  async serves() {
    if (!this.isRunning) return false;
    const ready = await this.get('/readyz');
    if (!ready?.ok) return false;
    if (!this.flags.includes('front')) return true;
    const metrics = await this.get('/metrics');
    const links = (await metrics?.text())?.match(/^kith_cluster_linked\{slot="\d+"\} [01]$/gm) ?? [];
    return links.length > 0 && links.every(link => link.endsWith(' 1'));
  }

  /** Another process takes the connections over. */
  async takeOver() {
    const old = this.child;
    const ended = once(old, 'exit');
    this.wanted = false;
    this.child = this.begin('--take-over');
    const failed = once(this.child, 'exit').then(([code, signal]) => {
      const goesOn = old.exitCode === null && old.signalCode === null;
      // The old process kills one that is too slow.
      const isRefused = goesOn && (code === 1 || signal === 'SIGKILL');
      throw new (isRefused ? Refused : Error)(`the successor of ${this.name} ended with ${code ?? signal}`);
    });
    const [code] = await Promise.race([ended, failed]).catch(error => {
      // The old process goes on, or is started again as by a service manager.
      this.wanted = true;
      this.child = old;
      if (!this.isRunning) this.child = this.begin();
      this.keepUp(this.child);
      throw error;
    });
    failed.catch(() => {});
    if (code !== 0) throw new Error(`${this.name} ended with ${code} after its take-over`);
    this.wanted = true;
    this.keepUp(this.child);
  }

  /** Runs another `kith` command on the same data. */
  async command(...args) {
    const env = { ...outside, XDG_RUNTIME_DIR: join(this.root, 'run'), ...this.settings, ...this.clock?.env };
    const { stdout } = await run(BINARY, [...args, '--data', this.data], { env });
    return stdout.trim();
  }
}
