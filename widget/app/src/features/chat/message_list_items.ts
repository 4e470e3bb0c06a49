// The rows of a chat, top to bottom, made from its messages.

import type { Message, Timeline } from '@kith/client';

export type Item =
  | { kind: 'day'; id: string; time: number }
  | { kind: 'unread'; id: string }
  /** Only in a thread, between the root and the replies. */
  | { kind: 'replies'; id: string }
  | { kind: 'message'; id: string; message: Message; first: boolean; last: boolean; sayState: boolean };

/** Messages of one sender form a group if each follows the previous one within this time. */
const TOGETHER = 5 * 60_000;

/**
 * The unread line is above the first unread message of another user. It is left out while that message is
 * not loaded.
 */
export function itemsOf(
  { messages, unreadFrom, more }: Pick<Timeline, 'messages' | 'unreadFrom' | 'more'>,
  dayOf: (time: number) => string,
  thread?: number,
): Item[] {
  const items: Item[] = [];
  let before: Extract<Item, { kind: 'message' }> | undefined;
  let day = '';
  const firstIsLoaded = !more || (messages[0]?.seq ?? Number.POSITIVE_INFINITY) <= (unreadFrom ?? 0);
  let lineDrawn = unreadFrom === undefined || !firstIsLoaded;
  const newestOwn = messages.findLast(message => message.mine)?.id;
  for (const message of messages) {
    if (!hasRow(message, thread)) continue;
    let breaks =
      before === undefined ||
      before.message.from !== message.from ||
      message.time - before.message.time > TOGETHER;
    const messageDay = dayOf(message.time);
    if (messageDay !== day) {
      day = messageDay;
      // The id contains the message, not the day: if the clock goes back, the same day can appear twice.
      items.push({ kind: 'day', id: `day:${message.id}`, time: message.time });
      breaks = true;
    }
    if (!lineDrawn && message.seq !== undefined && message.seq >= (unreadFrom ?? 0) && !message.mine) {
      lineDrawn = true;
      items.push({ kind: 'unread', id: 'unread' });
      breaks = true;
    }
    if (!breaks && before !== undefined) before.last = false;
    before = {
      kind: 'message',
      id: message.id,
      message,
      first: breaks,
      last: true,
      sayState: message.id === newestOwn && message === messages.at(-1),
    };
    items.push(before);
    if (thread && message.seq === thread) {
      items.push({ kind: 'replies', id: 'replies' });
      before = undefined;
    }
  }
  return items;
}

/** A thread reply has a row only in the thread. In the chat, the root shows the number of replies. */
export function hasRow(message: Message, thread: number | undefined): boolean {
  return thread !== undefined || message.thread === undefined;
}

/** The rendered part of the items: `shown` items have elements, and `below` items at the end have none. */
export interface Window {
  shown: number;
  below: number;
}

export const FIRST_WINDOW: Window = { shown: 40, below: 0 };
/** Distance from an edge, in pixels, at which the next items are rendered or requested. */
export const NEAR = 600;
/** Items per step: few enough that rendering them is not a long task. */
const STEP = 10;
/** Minimum height of a row in pixels. */
const LOWEST_ROW = 30;

/**
 * The number of rows that fill a viewport of this height and the area near it. Each additional row costs
 * time in every frame in which rows move.
 */
const mostIn = (height: number) => Math.ceil((height + 2 * NEAR) / LOWEST_ROW) + STEP;

export function slice(window: Window, count: number): { from: number; to: number } {
  const to = Math.max(0, count - window.below);
  return { from: Math.max(0, to - window.shown), to };
}

/** Moves the window up by one step. Rows far below a viewport of this height are removed. */
export function upwards(window: Window, count: number, height: number): Window {
  const { from, to } = slice(window, count);
  const first = Math.max(0, from - STEP);
  const last = Math.min(to, first + mostIn(height));
  return { shown: last - first, below: count - last };
}

/** Moves the window down by one step. Rows far above a viewport of this height are removed. */
export function downwards(window: Window, count: number, height: number): Window {
  const { from, to } = slice(window, count);
  const last = Math.min(count, to + STEP);
  const first = Math.max(from, last - mostIn(height));
  return { shown: last - first, below: count - last };
}
