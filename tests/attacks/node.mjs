// A real node with the demo community, on a free port and with a data directory of its own.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from './client.mjs';

const BINARY = process.env.KITH_BIN;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KITH_'))),
  // A server for relays, so that its credentials can be asked for.
  KITH_CALLS_LISTEN: '127.0.0.1:0',
};

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

export class AttackedNode {
  static async start(flags = ['--strangers']) {
    const node = new AttackedNode();
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    node.http = `127.0.0.1:${server.address().port}`;
    server.close();
    node.home = await mkdtemp(join(tmpdir(), 'kith-attack-'));
    node.data = join(node.home, 'data');
    node.tokens = new Map();
    await node.up(flags);
    return node;
  }

  async up(flags = ['--strangers']) {
    this.process = spawn(BINARY, ['demo', ...flags, '--data', this.data, '--http', this.http], {
      stdio: 'ignore',
      env,
    });
    for (let tries = 0; tries < 600; tries += 1) {
      const answer = await fetch(`http://${this.http}/readyz`).catch(() => undefined);
      if (answer?.ok) return;
      await pause(50);
    }
    throw new Error('the node did not become ready');
  }

  async stop(signal = 'SIGTERM') {
    const ended = once(this.process, 'exit');
    this.process.kill(signal);
    await ended;
  }

  async remove() {
    await this.stop('SIGKILL');
    await rm(this.home, { recursive: true, force: true });
  }

  /** Standard output of another `kith` command on the same data. */
  async command(...args) {
    const { stdout } = await promisify(execFile)(BINARY, [...args, '--data', this.data], { env });
    return stdout.trim();
  }

  async token(user, { site = 'demo', role } = {}) {
    const key = `${site}/${user}/${role}`;
    if (!this.tokens.has(key)) {
      const of = role ? ['--role', role] : [];
      this.tokens.set(key, await this.command('token', '--site', site, '--user', user, ...of));
    }
    return this.tokens.get(key);
  }

  async enter(user, { site = 'demo', role } = {}) {
    return Client.enter(this.http, { site, token: await this.token(user, { site, role }) });
  }

  guest(site = 'demo') {
    return Client.enter(this.http, { site });
  }

  /** A site beside the demo, once the node knows it. */
  async addSite(key, ...options) {
    await this.command('site', 'add', key, ...options);
    for (let tries = 0; tries < 200; tries += 1) {
      const asked = await this.rest(
        `/v1/sites/${key}/settings`,
        await this.token('server', { site: key, role: 'service' }),
      );
      if (asked.ok) return;
      await pause(50);
    }
    throw new Error(`the node does not know ${key}`);
  }

  rest(path, token, { method = 'GET', body, headers = {} } = {}) {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const of = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(`http://${this.http}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...of, ...headers },
      ...json,
    });
  }

  async configure(site, patch) {
    const token = await this.token('server', { site, role: 'service' });
    return this.rest(`/v1/sites/${site}/settings`, token, { method: 'PATCH', body: patch });
  }

  /** Begins an upload; the answer has `location`. */
  upload(token, { site = 'demo', to, name, length }) {
    const metadata = Object.entries({ site, ...to, filename: name }).map(
      ([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`,
    );
    const headers = {
      'tus-resumable': '1.0.0',
      'upload-length': String(length),
      'upload-metadata': metadata.join(','),
    };
    return this.rest('/v1/files', token, { method: 'POST', headers });
  }

  bring(token, location, bytes) {
    const path = location.replace(/^https?:\/\/[^/]+/, '');
    const headers = {
      authorization: `Bearer ${token}`,
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream',
    };
    return fetch(`http://${this.http}${path}`, { method: 'PATCH', headers, body: bytes });
  }

  giveUp(token, location) {
    const path = location.replace(/^https?:\/\/[^/]+/, '');
    return this.rest(path, token, { method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } });
  }

  /** Resident memory in bytes. */
  async memory() {
    const status = await readFile(`/proc/${this.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1024;
  }

  /** CPU seconds of the process and of its children that ended. */
  async cpu() {
    const fields = (await readFile(`/proc/${this.process.pid}/stat`, 'utf8'))
      .replace(/^.*\) /, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  }
}
