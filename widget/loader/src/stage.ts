// The data that the loader passes to the interface, and the callbacks it expects.

import type { CallEvent, Client, ClientEvents, ConversationKey, Media } from '@kith/client';
import type { OpenPanel } from './panel_memory.ts';
import type { Push } from './push/push.ts';
import type { Settings } from './settings.ts';

export type { OpenPanel } from './panel_memory.ts';
export type { Push, PushError, PushState } from './push/push.ts';
export type { Settings } from './settings.ts';

/** Default export of the app's module. Called once for each widget of a page, when it is first shown. */
export type Mount = (stage: Stage) => Promise<App>;

export interface Stage {
  client: Client;
  /** Closed shadow root of the zero-size host element; the app adds its own elements and sheets to it. */
  root: ShadowRoot;
  /** The loader's button: where focus returns to. In the modes `inbox` and `embed` it is hidden. */
  launcher: HTMLButtonElement;
  settings: Settings;
  /** Notices while the site is closed; it comes late. */
  push(): Promise<Push>;
  /** The app tells the loader that its panel is open, so that the button says so too. */
  setOpen(open: boolean): void;
  /** Keeps what is open for the next page of this tab; `undefined`: nothing is open. */
  remember(panel: OpenPanel | undefined): void;
  /** Gives an event to the page's `Kith.on` listeners. */
  emit(event: 'open' | 'close', detail: undefined): void;
  /** The chat is before the member's eyes, in whatever widget of the page. */
  shows(key: ConversationKey): boolean;
  /** Calls are drawn by one widget of the page, which need not be this one. */
  call(request: CallRequest): void;
}

export type CallRequest =
  /** Call somebody. */
  | { do: 'call'; user: string; media: Media }
  /** Into the call of a room. */
  | { do: 'join'; room: ConversationKey; media: Media }
  /** The server has said something of a call. */
  | { do: 'hear'; event: CallEvent }
  /** Before a reload this tab was in a call. */
  | { do: 'rejoin' }
  /** Try microphone, camera and network. */
  | { do: 'check' };

export interface App {
  show(): void;
  hide(): void;
  /** Opens what `Stage.remember` was given on the page before, without taking the focus. */
  reopen(panel: OpenPanel): void;
  /** Opens the conversation with a user. */
  open(user: string): void;
  /** Opens a room: by its id, or that of a page of the site, which begins with a slash. */
  openRoom(room: string): void;
  /** Leads to what this fragment of an address names: a message, or an invitation into a room. */
  follow(link: string): void;
  /** A message has come, and of all tabs this is the one to say so. */
  notify(happened: ClientEvents['message']): void;
  /** The chat is before the member's eyes, or the list with its row. */
  shows(key: ConversationKey): boolean;
  /** Of all widgets of the page, this is the one to draw it. */
  call(request: CallRequest): void;
  destroy(): void;
}
