// A WebSocket as the widget's client uses it, on Node 20, which has none.

import { firstFrame, frame, upgraded } from '../attacks/client.mjs';

const CLOSE = 8;
const TEXT = 1;

export class Socket {
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  #socket;
  #gaveUp = new AbortController();
  #isOver = false;

  /** `http`: host and port. */
  constructor(http) {
    upgraded(http, this.#gaveUp.signal).then(
      socket => this.#opened(socket),
      () => this.#over(),
    );
  }

  send(text) {
    this.#socket?.write(frame(text));
  }

  close() {
    this.#isOver = true;
    this.#gaveUp.abort();
    this.#socket?.destroy();
  }

  #opened(socket) {
    if (this.#isOver) return socket.destroy();
    this.#socket = socket;
    let unread = Buffer.alloc(0);
    socket.on('data', data => {
      unread = Buffer.concat([unread, data]);
      for (let one = firstFrame(unread); one && !this.#isOver; one = firstFrame(unread)) {
        unread = one.rest;
        if (one.opcode === TEXT) this.onmessage?.({ data: one.body.toString() });
        if (one.opcode === CLOSE) this.#over();
      }
    });
    socket.on('error', () => this.#over());
    socket.on('close', () => this.#over());
    this.onopen?.();
  }

  #over() {
    if (this.#isOver) return;
    this.close();
    this.onclose?.();
  }
}
