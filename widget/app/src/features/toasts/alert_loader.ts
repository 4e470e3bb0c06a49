// The way to the notices: they come when there is time, and at the latest with the first message that nobody looks at.

import type { Client, ClientEvents, ConversationKey } from '@kith/client';
import type { MessageAlerts } from './message_alerts.ts';

export interface AlertLoader {
  /** Once they are here. */
  notices(): MessageAlerts | undefined;
  /** Calls when they are. */
  listen(listener: () => void): void;
  /** From now on messages are read out where they come. */
  readOut(): void;
  /** Call for each message in the one tab that the client says is first to hear it. */
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
