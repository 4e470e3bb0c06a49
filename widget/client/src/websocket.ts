// The preferred transport: one WebSocket, with one JSON frame per text frame.

import type { OpenLink } from './environment.ts';
import { readEvent } from './frame.ts';

/** The used part of a browser's WebSocket. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(): void;
}

export function websocket(server: string, connect: (url: string, protocol: string) => Socket): OpenLink {
  return (hello, listener) => {
    let socket: Socket | undefined;
    const over = () => {
      if (!socket) return;
      const old = socket;
      socket = undefined;
      old.onopen = old.onmessage = old.onclose = old.onerror = null;
      listener.closed({});
    };
    try {
      socket = connect(`${server.replace(/^http/, 'ws')}/v1/websocket`, 'kith.v1');
    } catch {
      // A policy of the page forbids WebSockets. Report it as a failure, but after this function has returned.
      void Promise.resolve().then(() => listener.closed({}));
      return { send: () => undefined, close: () => undefined };
    }
    socket.onopen = () => socket?.send(hello);
    socket.onmessage = ({ data }) => {
      const event = typeof data === 'string' ? readEvent(data) : undefined;
      if (event) listener.event(event);
    };
    socket.onclose = over;
    socket.onerror = over;
    return {
      send: frame => socket?.send(frame),
      close: () => {
        const old = socket;
        socket = undefined;
        if (!old) return;
        old.onopen = old.onmessage = old.onclose = old.onerror = null;
        old.close();
      },
    };
  };
}
