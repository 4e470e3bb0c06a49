// Fetches the code for notices of new messages: after `IDLE_MS`, or earlier with the first message.

import type { Client, ClientEvents, ConversationKey } from '@kith/client';
import type { MessageAlerts } from './message_alerts.ts';

export interface AlertLoader {
  /** Undefined until the code for notices is loaded. */
  notices(): MessageAlerts | undefined;
  /** Sets the listener that is called when the code is loaded. */
  listen(listener: () => void): void;
  /** Call it when the live region listens: from then on it announces messages itself. */
  readOut(): void;
  /** Call it for each new message, only in the one tab where the client's event has `first`. */
  hear(happened: Pick<ClientEvents['message'], 'key' | 'message'>): void;
  destroy(): void;
}

const IDLE_MS = 1_000;

export function createAlertLoader(client: Client, onScreen: (key: ConversationKey) => boolean): AlertLoader {
  let here: MessageAlerts | undefined;
  let coming: Promise<MessageAlerts> | undefined;
  let changed = () => {};
  let reading = false;
  let over = false;
  const fetched = () => {
    coming ??= import('./message_alerts.ts').then(one => {
      here = one.createMessageAlerts(client, onScreen);
      changed();
      return here;
    });
    coming.catch(() => {
      coming = undefined;
    });
    return coming;
  };
  const timer = setTimeout(fetched, IDLE_MS);
  return {
    notices: () => here,
    listen(listener) {
      changed = listener;
    },
    readOut() {
      reading = true;
    },
    hear(happened) {
      const unheard = !reading;
      fetched().then(
        notices => over || notices.hear(happened, unheard),
        () => undefined,
      );
    },
    destroy() {
      over = true;
      clearTimeout(timer);
      here?.destroy();
    },
  };
}
