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
  /** Where styles go; undefined in a test without a browser. */
  root?: ShadowRoot;
  /** Says something to screen readers, politely. */
  announce(text: string): void;
  /** `at`: with this message on the screen. */
  openChat(key: ConversationKey, at?: number): void;
  /** Notices while the site is closed; undefined where there is no page around this. */
  push?: Stage['push'];
  /** Shows a menu over the panel, once it is there; one at a time. */
  openMenu(request: MenuRequest | Promise<MenuRequest>): void;
  /** Lets the member choose an emoji; it is fetched when it is used first. */
  pickEmoji(request: EmojiRequest): void;
  /** An embedded widget takes no focus until somebody has moved it there. */
  takesFocus(): boolean;
  /** Of calls; what does it comes with the first of it. */
  call(request: CallRequest): void;
  /** Menu items of the window that a chat stands in; a chat's bar has no room for them. */
  windowItems?(): MenuItem[];
  /** Asks before something that hurts; the answer is the button. */
  confirm(question: Question): void;
  /** Covers the panel with a part that comes late. */
  show<P extends object>(part: Part<P & Closable>, props: P): void;
}

export interface Closable {
  onClose(): void;
}

export interface EmojiRequest {
  /** The element that the menu is attached to. Focus returns to it. */
  anchor: HTMLElement;
  onPick(emoji: string): void;
  /** Left out where one cannot send something by itself. */
  onSticker?(sticker: Sticker): void;
}

export interface Question {
  title: string;
  text: string;
  action: string;
  /** Where the focus was, and goes back to. */
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

/** Reads from the store and draws again when the topic changes to another value. */
export function useTopic<T>(topic: Topic, read: (client: Client) => T): T {
  return useSource(useClient(), topic, read);
}

/** As `useTopic`, from another store than the client. */
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
    // It may have changed between drawing and subscribing.
    look();
    return leave;
  }, [source, topic]);
  return value;
}

/** Name and picture of whom one talks to: a person, or a room. */
export function useFace(conversation: Conversation): KnownPerson {
  const { key, with: face } = conversation;
  const person = useTopic(`person:${face.user}`, one => (isRoom(key) ? undefined : one.person(face.user)));
  return person ?? face;
}

/** The time, again every `every` milliseconds, so that "5 min. ago" moves on. */
export function useNow(every = 30_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** Wants the presence of these users once they have stayed on the screen for a moment. */
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

/** Somebody who only scrolls past costs the server nothing. */
const WATCH_DELAY = 200;
