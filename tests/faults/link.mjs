// A link between two processes: a proxy that can cut, stall and delay what passes. Needs no privileges.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export class Link {
  /** `from` and `to`: a port of loopback, or the path of a socket. */
  static async open(from, to) {
    const link = new Link(to);
    link.server = createServer(socket => link.#accept(socket));
    link.server.listen(typeof from === 'number' ? { port: from, host: '127.0.0.1' } : { path: from });
    await once(link.server, 'listening');
    return link;
  }

  constructor(to) {
    this.to = typeof to === 'number' ? { port: to, host: '127.0.0.1' } : { path: to };
    this.pairs = new Set();
    this.state = 'open';
    this.delay = 0;
  }

  /** Closes all connections, and each new one at once. */
  cut() {
    this.state = 'cut';
    for (const pair of this.pairs) pair.close();
  }

  /** Nothing passes, not even the end of a connection. New connections are accepted, and hear nothing. */
  stall() {
    this.state = 'stalled';
    for (const pair of this.pairs) pair.hold();
  }

  slow(ms) {
    this.delay = ms;
  }

  heal() {
    this.state = 'open';
    this.delay = 0;
    for (const pair of this.pairs) pair.go();
  }

  async close() {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  #accept(near) {
    if (this.state === 'cut') return near.destroy();
    const pair = new Pair(near, this);
    this.pairs.add(pair);
    if (this.state === 'stalled') pair.hold();
    else pair.go();
  }
}

/** Two connections. What comes from one goes to the other, after the delay of the link. */
class Pair {
  constructor(near, link) {
    this.near = near;
    this.link = link;
    this.ways = [];
    near.pause();
    near.on('error', () => this.close());
  }

  hold() {
    this.near.pause();
    this.far?.pause();
  }

  go() {
    if (!this.far) {
      this.far = connect(this.link.to);
      this.far.on('error', () => this.close());
      this.#pass(this.near, this.far);
      this.#pass(this.far, this.near);
    }
    this.near.resume();
    this.far.resume();
  }

  #pass(from, to) {
    const way = new Way(this.link);
    this.ways.push(way);
    from.setNoDelay(true);
    from.on('data', bytes => way.later(() => to.write(bytes)));
    from.on('end', () => way.later(() => to.end()));
    from.on('close', () =>
      way.later(() => {
        to.destroySoon();
        this.link.pairs.delete(this);
      }),
    );
  }

  close() {
    for (const way of this.ways) way.stop();
    this.near.destroy();
    this.far?.destroy();
    this.link.pairs.delete(this);
  }
}

/** One direction of a pair. Later calls never overtake earlier ones, even if the delay becomes shorter. */
class Way {
  #calls = [];
  #timer;

  constructor(link) {
    this.link = link;
  }

  get isBusy() {
    return this.#calls.length > 0;
  }

  later(call) {
    if (this.link.delay === 0 && !this.isBusy) return call();
    this.#calls.push({ call, due: performance.now() + this.link.delay });
    if (this.#calls.length === 1) this.#wait();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#calls = [];
  }

  #wait() {
    this.#timer = setTimeout(() => {
      this.#calls.shift().call();
      if (this.isBusy) this.#wait();
    }, this.#calls[0].due - performance.now());
  }
}
