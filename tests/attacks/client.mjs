// A small client of the web protocol over WebSocket (RFC 6455), which uses only Node's standard library.

import { randomBytes } from 'node:crypto';
import { request } from 'node:http';

/** `{opcode, body, rest}` of the first complete frame. The server sends unmasked and unfragmented frames. */
export function firstFrame(bytes) {
  if (bytes.length < 2) return undefined;
  const short = bytes[1] & 0x7f;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < head) return undefined;
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < head + length) return undefined;
  return {
    opcode: bytes[0] & 0x0f,
    body: bytes.subarray(head, head + length),
    rest: bytes.subarray(head + length),
  };
}

/** The masked text frame of a client. */
export function frame(text) {
  const body = Buffer.from(text);
  const mask = randomBytes(4);
  for (let at = 0; at < body.length; at += 1) body[at] ^= mask[at & 3];
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10);
  head[0] = 0x81;
  head[1] = 0x80 | (head.length === 2 ? body.length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(body.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(body.length), 2);
  return Buffer.concat([head, mask, body]);
}

export class Client {
  /** Opens a session. `welcome` is its first event. Throws the `bye` of a refused session. */
  static async enter(http, hello) {
    const client = new Client(await upgraded(http));
    client.say({ t: 'hello', v: 1, device: `d-${randomBytes(6).toString('hex')}`, ...hello });
    const first = await client.next(event => event.t === 'welcome' || event.t === 'bye');
    if (first.t === 'bye') throw Object.assign(new Error(`bye: ${first.code}`), first);
    client.welcome = first;
    return client;
  }

  constructor(socket) {
    this.socket = socket;
    this.events = [];
    this.waiting = new Set();
    this.bytes = 0;
    this.rid = 0;
    let unread = Buffer.alloc(0);
    socket.on('data', data => {
      this.bytes += data.length;
      unread = Buffer.concat([unread, data]);
      for (let one = firstFrame(unread); one; one = firstFrame(unread)) {
        unread = one.rest;
        if (one.opcode === 1) this.heard(JSON.parse(one.body.toString()));
      }
    });
    socket.on('error', () => {});
  }

  heard(event) {
    if (this.keeps !== false) this.events.push(event);
    for (const look of [...this.waiting]) look(event);
  }

  say(command) {
    this.socket.write(frame(JSON.stringify(command)));
  }

  /** The next event that `wanted` accepts. Undefined after `ms`. */
  next(wanted, ms = 90_000) {
    return new Promise(resolve => {
      const end = event => {
        clearTimeout(patience);
        this.waiting.delete(look);
        resolve(event);
      };
      const look = event => wanted(event) && end(event);
      const patience = setTimeout(end, ms);
      this.waiting.add(look);
    });
  }

  /** The answer to a request, an `error` included. */
  ask(command, ms) {
    this.rid += 1;
    const rid = this.rid;
    const answer = this.next(event => event.re === rid, ms);
    this.say({ rid, ...command });
    return answer;
  }

  /** The answer to a message: `ack`, `held` or `error`. */
  post(to, body, more = {}) {
    const id = randomBytes(8).toString('hex');
    const answer = this.next(event => event.id === id || event.held?.id === id);
    this.say({ t: 'send', id, to, body, ...more });
    return answer;
  }

  leave() {
    this.socket.destroy();
  }
}

/** A connection after the handshake. `signal` gives it up. */
export function upgraded(http, signal) {
  const [host, port] = http.split(':');
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path: '/v1/websocket', headers, signal });
    asked.on('upgrade', (_answer, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.on('response', answer => reject(new Error(`not a WebSocket: ${answer.statusCode}`)));
    asked.on('error', reject);
    asked.end();
  });
}
