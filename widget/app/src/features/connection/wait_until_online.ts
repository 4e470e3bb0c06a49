// Waits for the connection, for what a page was opened by.

import { type Client, RequestError } from '@kith/client';

const PATIENCE_MS = 15_000;

/** Refused as `offline` where it does not come soon, or not by itself. */
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
