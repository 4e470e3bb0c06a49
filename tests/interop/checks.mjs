// What the clients in JavaScript share: the arguments, one line per check, and a member in the widget.

import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';

// Node 20 has none of its own, and xmpp.js wants one.
globalThis.WebSocket ??= WebSocket;

/** The arguments of each client: XMPP's port, the web's port, the domain, a user and its password, a member's name and token. */
const [xmppPort, webPort, domain, user, password, other, token] = process.argv.slice(2);
export const node = { xmppPort, webPort, domain, user, password, other };
export const webSocketUrl = `ws://127.0.0.1:${webPort}/xmpp-websocket`;
export const boshUrl = `http://127.0.0.1:${webPort}/http-bind`;
/** `domain` of the demo is also the key of its site. */
const SITE = domain;

const PATIENCE_MS = 10_000;
let failures = 0;

/** Prints the outcome of a check: a value, or a promise that fails or takes too long. Returns the value. */
export async function check(name, outcome) {
  let value;
  try {
    value = await within(PATIENCE_MS, Promise.resolve(outcome));
  } catch (error) {
    console.error(`        ${error?.message ?? error?.condition ?? error}`);
  }
  console.log(`${value ? 'ok    ' : 'FAILED'}  ${name}`);
  if (!value) failures += 1;
  return value;
}

/** Ends the process; with 1 if a check has failed. */
export function end() {
  process.exit(failures === 0 ? 0 : 1);
}

process.on('unhandledRejection', error => {
  console.error(error);
  process.exit(1);
});

function within(ms, promise) {
  const late = new Promise((_, fail) =>
    setTimeout(() => fail(new Error('nothing came in time')), ms).unref(),
  );
  return Promise.race([promise, late]);
}

/** Items as they arrive. `next` resolves with the first that is wanted, and drops those before it. */
export class Queue {
  #items = [];
  #wake = () => undefined;

  push(item) {
    this.#items.push(item);
    this.#wake();
  }

  async next(wanted = () => true) {
    for (;;) {
      while (this.#items.length > 0) {
        const item = this.#items.shift();
        if (wanted(item)) return item;
      }
      await new Promise(wake => {
        this.#wake = wake;
      });
    }
  }
}

/** A member in the widget, by the protocol of docs/protocol.md. */
export class Member {
  static async signIn() {
    const member = new Member();
    member.events = new Queue();
    member.socket = new WebSocket(`ws://127.0.0.1:${webPort}/v1/websocket`, 'kith.v1');
    member.socket.on('message', data => member.events.push(JSON.parse(data)));
    await new Promise((open, fail) => member.socket.on('open', open).on('error', fail));
    member.send({ t: 'hello', v: 1, site: SITE, token, device: `interop-${randomUUID()}` });
    await member.gets('welcome');
    return member;
  }

  send(command) {
    this.socket.send(JSON.stringify(command));
  }

  gets(t, wanted = () => true) {
    return this.events.next(event => event.t === t && wanted(event));
  }

  /** Writes to a user. */
  say(body) {
    this.send({ t: 'send', id: randomUUID(), to: { user }, body });
  }

  reads(body) {
    return this.gets('message', event => event.body === body);
  }
}
