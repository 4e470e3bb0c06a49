// A real `kith demo` on a free port with its own data directory. Tests can kill it and start it again.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PATIENCE_MS, until } from './browser.mjs';

export const BINARY =
  process.env.KITH_BIN ?? fileURLToPath(new URL('../../target/debug/kith', import.meta.url));

/** Leaves out the variables of the tests: the binary would read all variables that begin with KITH_ as settings. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KITH_')));
/** Without it, the first of several nodes would take the usual port for XMPP, and only its members would have apps. */
const WITHOUT_XMPP = { KITH_XMPP_LISTEN: 'off' };

/** All started nodes, because a failed test may not have stopped its node. */
const started = new Set();
process.on('exit', () => {
  for (const node of started) node.kill('SIGKILL');
});

export class Kith {
  /** `settings`: variables that the binary reads. `strangers: false`: the demo with its default settings. */
  static async start(settings = {}, { strangers = true } = {}) {
    assert.ok(existsSync(BINARY), `no binary at ${BINARY}: cargo build --package server, or KITH_BIN=…`);
    const kith = new Kith(await freePort(), await mkdtemp(join(tmpdir(), 'kith-browser-')), settings);
    if (!strangers) kith.flags = ['--metrics-public'];
    await kith.up().catch(async error => {
      // Another test may have taken the port in the meantime.
      if (kith.process.exitCode === null) throw error;
      kith.listensAt(await freePort());
      await kith.up();
    });
    return kith;
  }

  constructor(port, data, settings = {}) {
    this.settings = settings;
    // Allow strangers to write. Tests of safety set this rule themselves.
    this.flags = ['--metrics-public', '--strangers'];
    this.listensAt(port);
    this.data = data;
    this.log = '';
  }

  listensAt(port) {
    this.http = `127.0.0.1:${port}`;
    this.url = `http://${this.http}`;
  }

  /** Starts a process with the data and the address of this node. */
  spawn(...words) {
    const node = spawn(BINARY, [...words, '--data', this.data, '--http', this.http], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, ...WITHOUT_XMPP, ...this.settings },
    });
    started.add(node);
    node.once('exit', () => started.delete(node));
    for (const stream of [node.stdout, node.stderr]) {
      stream.on('data', bytes => {
        this.log = (this.log + bytes).slice(-20_000);
      });
    }
    return node;
  }

  async up() {
    this.process = this.spawn('demo', ...this.flags);
    const end = Date.now() + PATIENCE_MS;
    while (Date.now() < end) {
      assert.equal(this.process.exitCode, null, `kith ended at once:\n${this.log}`);
      const answer = await fetch(`${this.url}/readyz`).catch(() => undefined);
      if (answer?.ok) return;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    assert.fail(`kith did not get ready:\n${this.log}`);
  }

  /** Kills the node with SIGKILL, as a power failure would. */
  async kill() {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }

  /** Replaces the process by another one, which takes its connections over. Pages of the demo are gone after that. */
  async takeOver() {
    const old = this.process;
    const ended = once(old, 'exit');
    this.process = this.spawn('serve', '--metrics-public', '--take-over');
    const failed = once(this.process, 'exit').then(() => assert.fail(`the successor ended:\n${this.log}`));
    const [code] = await Promise.race([ended, failed]);
    assert.equal(code, 0, this.log);
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, 'exit');
      this.process.kill('SIGTERM');
      const patience = setTimeout(() => this.process.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(patience);
    }
    await rm(this.data, { recursive: true, force: true });
  }

  /** Runs another `kith` command on the same data. */
  async command(...args) {
    const { stdout } = await promisify(execFile)(BINARY, [...args, '--data', this.data], { env });
    return stdout.trim();
  }

  /** Adds a site, and waits until the running node knows it: the node checks twice a second. */
  async addSite(key, ...options) {
    const before = await this.metric('kith_chat_sites');
    await this.command('site', 'add', key, ...options);
    await until(async () => (await this.metric('kith_chat_sites')) > before, `the node knows ${key}`);
  }

  /** Changes settings of a site, such as `requests.on=true`, and waits until the running node knows them. */
  async setSite(key, ...settings) {
    await this.command('site', 'set', key, ...settings);
    const token = await this.command('token', '--site', key, '--user', 'test', '--role', 'service');
    const headers = { authorization: `Bearer ${token}` };
    const look = async () => {
      const known = await (await fetch(`${this.url}/v1/sites/${key}/settings`, { headers })).json();
      return settings.every(one => {
        const [name, value] = one.split('=');
        return String(name.split('.').reduce((of, part) => of?.[part], known)) === value;
      });
    };
    await until(look, `the node knows ${settings.join(', ')}`);
  }

  /** A metric of /metrics, summed over its labels. */
  async metric(name) {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const lines = text.split('\n').filter(line => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    assert.ok(lines.length > 0, `no metric ${name} in\n${text}`);
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }
}

export async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
