// The types of `window.Kith`: the methods and events of a page.

import type { Client, Status } from '@kith/client';

declare global {
  interface Window {
    /** Set when the script at `/kith.js` has run. */
    Kith?: Kith;
  }
}

/** `window.Kith`. None of its methods throws. Calls before the interface has been fetched wait for it. */
export interface Kith extends Controls {
  /** Signs the member in, or sets a fresh token. `null`: the member has signed out, and cached data is removed. */
  setToken(token: string | null): void;
  /** Removes all widgets from the page, closes the connection, and forgets the guest. */
  destroy(): void;
  /** The token of a guest who has written from this browser. At registration it proves to your server who they are. */
  guestToken(): string | undefined;
  /** The headless client of this page, connected or not. All widgets of the page share it. */
  client(): Promise<Client>;
  /**
   * Adds a widget to the page. With wrong options the console shows the error, no widget is added, and the methods of
   * the returned instance have no effect.
   */
  mount(options: MountOptions): KithInstance;
  /** Resolves when the launcher is on the page. */
  readonly ready: Promise<Kith>;
}

/** A widget that `mount` has added to the page. */
export interface KithInstance extends Controls {
  /** Removes this widget from the page. A second after the last one, the connection closes. A guest is remembered. */
  unmount(): void;
  /** Like `unmount`. If it was the last widget, the connection closes at once and the guest is forgotten. */
  destroy(): void;
  /** False after `unmount`, and if the options were wrong. */
  readonly mounted: boolean;
}

/** Methods of a widget. `window.Kith` controls the widget of the script tag, or the first that can show any chat. */
export interface Controls {
  /** Opens the widget, or the conversation with this user of the site. */
  open(user?: string): void;
  /** Opens a room by its id, or the room of a page by the page's path, which begins with a slash. */
  openRoom(room: string): void;
  close(): void;
  /** Adds a listener for an event. The returned function removes it. */
  on<K extends keyof PageEvents>(event: K, listener: (detail: PageEvents[K]) => void): () => void;
  off<K extends keyof PageEvents>(event: K, listener: (detail: PageEvents[K]) => void): void;
}

/** Options of `mount`. The script tag sets the site, the server, the tokens and the language. */
export interface MountOptions {
  /** The element of the page that contains the embedded chat. */
  element?: HTMLElement | null | undefined;
  /** `embed` if there is an `element`, else `bubble`. */
  mode?: Mode | undefined;
  /** For `embed`: the id of the room, or the path of a page of the site, which begins with a slash. */
  room?: string | undefined;
  /** For `embed`, instead of a room: the conversation with this user of the site. */
  person?: string | undefined;
  /** The name of a page's room. Default: the title of this page, if the room belongs to this page. */
  roomName?: string | undefined;
  position?: 'left' | 'right' | undefined;
  theme?: 'light' | 'dark' | 'auto' | undefined;
  /** Selectors of elements that the button and the panel must not cover. */
  avoid?: string | undefined;
  /** The key of the site, if the page wants it checked: it must equal the key in the script tag. */
  site?: string | undefined;
}

export type Mode = 'bubble' | 'bar' | 'inbox' | 'embed';

/** Events for listeners. All widgets of a page get the same events, except for `open` and `close`. */
export interface PageEvents {
  open: undefined;
  close: undefined;
  unread: { unread: number; mentions: number; conversations: number; requests: number };
  /** A message of another user arrived. `first` is true in one tab only, which plays the sound. */
  message: { from: string; body: string; time: number; first: boolean };
  status: Status;
  /** A page that uses `setToken` must call it with a new token within 20 s. */
  token: undefined;
}
