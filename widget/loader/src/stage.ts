// The data that the loader passes to the interface, and the callbacks it expects.

import type { CallEvent, Client, ClientEvents, ConversationKey, Media } from '@kith/client';
import type { OpenPanel } from './panel_memory.ts';
import type { Push } from './push/push.ts';
import type { Settings } from './settings.ts';

export type { OpenPanel } from './panel_memory.ts';
export type { Push, PushError, PushState } from './push/push.ts';
export type { Settings } from './settings.ts';

/** The default export of the app's module. Called once for each widget of a page, when the widget is first shown. */
export type Mount = (stage: Stage) => Promise<App>;

export interface Stage {
  client: Client;
  /** The closed shadow root of the zero-size host element. The app adds its own elements and sheets to it. */
  root: ShadowRoot;
  /** The loader's button, to which the focus returns. In the modes `inbox` and `embed` it is hidden. */
  launcher: HTMLButtonElement;
  settings: Settings;
  /** Notices while the site is closed. The code is fetched on demand. */
  push(): Promise<Push>;
  /** The app reports whether its panel is open, and the button shows it. */
  setOpen(open: boolean): void;
  /** Stores the open panel for the next page of this tab. `undefined`: no panel is open. */
  remember(panel: OpenPanel | undefined): void;
  /** Calls the page's `Kith.on` listeners of an event. */
  emit(event: 'open' | 'close', detail: undefined): void;
  /** Whether any widget of the page shows the chat. */
  shows(key: ConversationKey): boolean;
  /** Passes a request to the widget of the page that draws calls. It may be another one. */
  call(request: CallRequest): void;
}

export type CallRequest =
  /** Call a user. */
  | { do: 'call'; user: string; media: Media }
  /** Join the call of a room. */
  | { do: 'join'; room: ConversationKey; media: Media }
  /** Apply an event of a call. */
  | { do: 'hear'; event: CallEvent }
  /** Rejoin the call in which this tab was before a reload. */
  | { do: 'rejoin' }
  /** Test microphone, camera and network. */
  | { do: 'check' };

export interface App {
  show(): void;
  hide(): void;
  /** Opens the panel that `Stage.remember` got on the previous page, without moving the focus. */
  reopen(panel: OpenPanel): void;
  /** Opens the conversation with a user. */
  open(user: string): void;
  /** Opens a room by its id, or the room of a page by the page's path, which begins with a slash. */
  openRoom(room: string): void;
  /** Opens the message or the invitation that a fragment of an address names. */
  follow(link: string): void;
  /** Announces a new message. Called in only one of the browser's tabs. */
  notify(happened: ClientEvents['message']): void;
  /** Whether the member sees the chat, or the list with its row. */
  shows(key: ConversationKey): boolean;
  /** Handles a call. Called for only one widget of the page, which draws calls. */
  call(request: CallRequest): void;
  destroy(): void;
}
