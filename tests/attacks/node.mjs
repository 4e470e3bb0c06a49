// The node of the browser tests, started as an operator starts it: its own data directory, and metrics behind a token.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, Kith } from '../browser/kith.mjs';
import { Client } from './client.mjs';

// The node has a relay server, so that its credentials can be requested.
const SETTINGS = { KITH_CALLS_LISTEN: '127.0.0.1:0' };

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

export class AttackedNode extends Kith {
  static async start() {
    const home = await mkdtemp(join(tmpdir(), 'kith-attack-'));
    // The node creates its data directory itself, with the right mode.
    const node = new AttackedNode(await freePort(), join(home, 'data'), SETTINGS);
    node.home = home;
    node.flags = ['--strangers'];
    node.tokens = new Map();
    await node.up();
    return node;
  }

  async remove() {
    await this.kill();
    await rm(this.home, { recursive: true, force: true });
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

  /** Adds a site beside the demo, and waits until the node knows it. */
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

  /** Begins an upload. The answer has the header `location`. */
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
