// The context of every component: the client, the wording, and services of the shell.

import {
  type Client,
  type Conversation,
  type ConversationKey,
  isRoom,
  type KnownPerson,
  type Sticker,
  type Topic,
} from '@kith/client';
import type { CallRequest, Stage } from '@kith/loader/stage';
import { type Context, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Part } from './ui/lazy/lazy.tsx';
import type { MenuItem, MenuRequest } from './ui/menu/menu.tsx';
import type { Wording } from './wording/wording.ts';

export interface AppContextValue {
  client: Client;
  wording: Wording;
  /** The shadow root that receives the styles; undefined in a test without a browser. */
  root?: ShadowRoot;
  /** Announces a text in the polite live region for screen readers. */
  announce(text: string): void;
  /** `at`: the seq of the message to scroll to. */
  openChat(key: ConversationKey, at?: number): void;
  /** Loads web push for notifications while the site is closed; undefined if there is no surrounding page. */
  push?: Stage['push'];
  /** Shows a menu over the panel when its request resolves. A later menu replaces an earlier one. */
  openMenu(request: MenuRequest | Promise<MenuRequest>): void;
  /** Opens the emoji picker; its code is fetched on first use. */
  pickEmoji(request: EmojiRequest): void;
  /** False until the member moves the focus into an embedded widget or a reopened panel. */
  takesFocus(): boolean;
  /** Starts or opens a call; the code for calls is fetched on first use. */
  call(request: CallRequest): void;
  /** Items that the surrounding window adds to a chat's menu, because the chat's bar has no room for buttons. */
  windowItems?(): MenuItem[];
  /** Asks for confirmation before a destructive action; `onYes` runs the action. */
  confirm(question: Question): void;
  /** Covers the panel with a lazy part. */
  show<P extends object>(part: Part<P & Closable>, props: P): void;
}

export interface Closable {
  onClose(): void;
}

export interface EmojiRequest {
  /** The element that the menu is attached to. Focus returns to it. */
  anchor: HTMLElement;
  onPick(emoji: string): void;
  /** Undefined if the caller cannot send a sticker as a message. */
  onSticker?(sticker: Sticker): void;
}

export interface Question {
  title: string;
  text: string;
  action: string;
  /** The element that gets the focus back when the dialog closes. */
  from?: HTMLElement;
  onYes(): void;
}

export const AppContext: Context<AppContextValue | undefined> = createContext<AppContextValue | undefined>(
  undefined,
);

export function useAppContext(): AppContextValue {
  const context = useContext(AppContext);
  if (context === undefined) throw new Error('drawn outside of the shell');
  return context;
}

export const useClient = (): Client => useAppContext().client;
export const useWording = (): Wording => useAppContext().wording;

/** Reads a value from the client and renders again when an event of the topic changes this value. */
export function useTopic<T>(topic: Topic, read: (client: Client) => T): T {
  return useSource(useClient(), topic, read);
}

/** Like `useTopic`, but for another store than the client. */
export function useSource<S extends { subscribe(topic: never, listener: () => void): () => void }, T>(
  source: S,
  topic: Parameters<S['subscribe']>[0],
  read: (source: S) => T,
): T {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const value = read(source);
  const drawn = useRef(value);
  const reader = useRef(read);
  drawn.current = value;
  reader.current = read;
  useLayoutEffect(() => {
    const look = () => {
      if (reader.current(source) !== drawn.current) redraw(undefined);
    };
    const leave = source.subscribe(topic as never, look);
    // The value may have changed between rendering and subscribing.
    look();
    return leave;
  }, [source, topic]);
  return value;
}

/** Name and picture of the conversation's other user or room. */
export function useFace(conversation: Conversation): KnownPerson {
  const { key, with: face } = conversation;
  const person = useTopic(`person:${face.user}`, one => (isRoom(key) ? undefined : one.person(face.user)));
  return person ?? face;
}

/** The current time, updated every `every` milliseconds, so that texts such as "5 min. ago" stay correct. */
export function useNow(every = 30_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** Subscribes to the presence of these users if they stay on the screen for `WATCH_DELAY`. */
export function useWatch(users: readonly string[], what: 'presence' | 'last_seen' = 'presence'): void {
  const client = useClient();
  const leave = useRef<() => void>(undefined);
  const wanted = users.join('\n');
  useEffect(() => {
    const timer = setTimeout(() => {
      const before = leave.current;
      leave.current = client.watch(wanted === '' ? [] : wanted.split('\n'), what);
      before?.();
    }, WATCH_DELAY);
    return () => clearTimeout(timer);
  }, [client, wanted, what]);
  useEffect(() => () => leave.current?.(), []);
}

/** Milliseconds. Rows that only scroll past cause no request to the server. */
const WATCH_DELAY = 200;
