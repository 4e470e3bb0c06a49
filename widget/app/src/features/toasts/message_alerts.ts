// Notices of a new message: a sound, and a toast if its chat is not on the screen.

import type { Client, ClientEvents, ConversationKey, Message } from '@kith/client';
import { type Chime, createChime } from './chime.ts';
import { soundIsOn } from './sound_preference.ts';

export interface Toast {
  key: ConversationKey;
  /** The newest message. */
  message: Message;
  /** The number of messages that the toast stands for. */
  count: number;
  /** The message arrived before a live region could announce it. */
  unheard: boolean;
}

export interface MessageAlertsHost {
  client: Client;
  chime: Chime;
  soundIsOn(): boolean;
  /** Whether the chat, or the list with its row, is on the screen. */
  onScreen(key: ConversationKey): boolean;
}

/** Waits this long before a notice, because a message that is read in any tab meanwhile needs none. */
export const SETTLE_MS = 400;
/** Minimum time between two sounds. */
export const CHIME_MS = 4_000;

export function createMessageAlerts(client: Client, onScreen: MessageAlertsHost['onScreen']): MessageAlerts {
  return new MessageAlerts({ client, chime: createChime(), soundIsOn, onScreen });
}

export class MessageAlerts {
  #toast: Toast | undefined;
  #waiting: Toast | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #chimedAt = Number.NEGATIVE_INFINITY;
  #listeners = new Set<() => void>();
  #leave: (() => void) | undefined;

  constructor(private readonly host: MessageAlertsHost) {}

  toast(): Toast | undefined {
    return this.#toast;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `unheard`: no live region could announce the message when it arrived. */
  hear({ key, message }: Pick<ClientEvents['message'], 'key' | 'message'>, unheard = false): void {
    // Members who were in the call or declined it get no notice.
    if (/ended|lost|declined/.test(message.call?.outcome ?? '')) return;
    const before = this.#waiting?.key === key ? this.#waiting.count : 0;
    this.#waiting = { key, message, count: before + 1, unheard };
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting) this.#settled(waiting);
    }, SETTLE_MS);
  }

  dismiss(): void {
    this.#show(undefined);
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#leave?.();
    this.#listeners.clear();
  }

  #settled(heard: Toast): void {
    const { client } = this.host;
    const { unread, mutedUntil } = client.conversation(heard.key);
    const now = Date.now();
    if (unread === 0 || mutedUntil > now || client.me()?.presence === 'busy') return;
    if (this.host.soundIsOn() && now - this.#chimedAt >= CHIME_MS) {
      this.#chimedAt = now;
      this.host.chime();
    }
    if (this.host.onScreen(heard.key)) return;
    const shown = this.#toast?.key === heard.key ? this.#toast.count : 0;
    this.#show({ ...heard, count: shown + heard.count });
  }

  #show(toast: Toast | undefined): void {
    if (toast === this.#toast) return;
    this.#leave?.();
    this.#toast = toast;
    // When the chat is read in another tab or on another device, dismiss the toast here too.
    this.#leave =
      toast &&
      this.host.client.subscribe(`conversation:${toast.key}`, () => {
        if (this.host.client.conversation(toast.key).unread === 0) this.dismiss();
      });
    for (const listener of this.#listeners) listener();
  }
}
