// The types of `window.Kith`: what a page may call and hear.

import type { Client, Status } from '@kith/client';

declare global {
  interface Window {
    /** There once the script at `/kith.js` has run. */
    Kith?: Kith;
  }
}

/** `window.Kith`. None of its methods throws. Calls before the interface has arrived wait for it. */
export interface Kith extends Controls {
  /** Signs the member in, or brings a fresh token. `null`: they have signed out; what was cached is forgotten. */
  setToken(token: string | null): void;
  /** Takes every widget off the page, closes the connection, and forgets the guest who was here. */
  destroy(): void;
  /** The token of the guest who has written from this browser: it proves to your server who they are, when they register. */
  guestToken(): string | undefined;
  /** The headless client of this page, connected or not. All widgets of the page share it. */
  client(): Promise<Client>;
  /**
   * Puts one more widget on the page. With wrong options the console says what is wrong, nothing is put on the page, and
   * the methods of the returned instance have no effect.
   */
  mount(options: MountOptions): KithInstance;
  /** Fulfilled once the launcher is on the page. */
  readonly ready: Promise<Kith>;
}

/** A widget that `mount` has put on the page. */
export interface KithInstance extends Controls {
  /** Takes this widget off the page. The last one closes the connection, a second later; a guest is remembered. */
  unmount(): void;
  /** As `unmount`. If it was the last widget, the connection closes at once and the guest is forgotten. */
  destroy(): void;
  /** False after `unmount`, and where the options were wrong. */
  readonly mounted: boolean;
}

/** What one widget can do. `window.Kith` controls the widget of the script tag, or the first one that can show any chat. */
export interface Controls {
  /** Opens the widget, or the conversation with this user of the site. */
  open(user?: string): void;
  /** Opens a room: by its id, or that of a page of the site, which begins with a slash. */
  openRoom(room: string): void;
  close(): void;
  /** Hears an event from now on; the returned function ends that. */
  on<K extends keyof PageEvents>(event: K, listener: (detail: PageEvents[K]) => void): () => void;
  off<K extends keyof PageEvents>(event: K, listener: (detail: PageEvents[K]) => void): void;
}

/** The site, the server, the tokens and the language are those of the script tag. */
export interface MountOptions {
  /** The element of the page that an embedded chat goes into. */
  element?: HTMLElement | null | undefined;
  /** `embed` where there is an `element`, else `bubble`. */
  mode?: Mode | undefined;
  /** For `embed`: the room, by its id, or by the path of a page of the site, which begins with a slash. */
  room?: string | undefined;
  /** For `embed`, instead of a room: the conversation with this user of the site. */
  person?: string | undefined;
  /** The name of a page's room; else the title of this page if the room is this page's. */
  roomName?: string | undefined;
  position?: 'left' | 'right' | undefined;
  theme?: 'light' | 'dark' | 'auto' | undefined;
  /** Selectors of elements that the button and the panel shall not cover. */
  avoid?: string | undefined;
  /** Key of the site, for a page that wants it checked: it must be that of the script tag. */
  site?: string | undefined;
}

export type Mode = 'bubble' | 'bar' | 'inbox' | 'embed';

/** All widgets of a page hear the same, except for `open` and `close`. */
export interface PageEvents {
  open: undefined;
  close: undefined;
  unread: { unread: number; mentions: number; conversations: number; requests: number };
  /** Somebody else's message arrived. `first` is true in one tab only: the one to make a sound in. */
  message: { from: string; body: string; time: number; first: boolean };
  status: Status;
  /** The page has brought a token before, and a new one is needed: call `setToken` within 20 s. */
  token: undefined;
}
