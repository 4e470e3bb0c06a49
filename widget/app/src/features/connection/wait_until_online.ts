// Waits for the connection, for links to messages and invites that a page may open before it is connected.

import { type Client, RequestError } from '@kith/client';

const PATIENCE_MS = 15_000;

/** Rejects with `offline` if the connection is not established in time or has stopped. */
export function online(client: Client): Promise<void> {
  return new Promise((done, failed) => {
    const over = () => {
      leave();
      clearTimeout(timer);
    };
    const look = () => {
      const { state } = client.status();
      if (state !== 'online' && state !== 'stopped') return;
      over();
      if (state === 'online') done();
      else failed(new RequestError('offline'));
    };
    const leave = client.subscribe('status', look);
    const timer = setTimeout(() => {
      over();
      failed(new RequestError('offline'));
    }, PATIENCE_MS);
    look();
  });
}
