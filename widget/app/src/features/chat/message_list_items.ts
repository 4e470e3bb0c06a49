// The rows of a chat, top to bottom, made from its messages.

import type { Message, Timeline } from '@kith/client';

export type Item =
  | { kind: 'day'; id: string; time: number }
  | { kind: 'unread'; id: string }
  /** In a thread, between its root and the replies. */
  | { kind: 'replies'; id: string }
  | { kind: 'message'; id: string; message: Message; first: boolean; last: boolean; sayState: boolean };

/** Messages of one person within this time stand together. */
const TOGETHER = 5 * 60_000;

/** The line of the unread stands above the first of them, and nowhere while that one is not loaded. */
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
      // By the message and not by the day: clocks that go back may bring the same day twice.
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

/** A reply in a thread has its row in the thread only; the root has the count. */
export function hasRow(message: Message, thread: number | undefined): boolean {
  return thread !== undefined || message.thread === undefined;
}

/** The part of the items that exists as elements: `shown` of them, `below` of them are left out at the end. */
export interface Window {
  shown: number;
  below: number;
}

export const FIRST_WINDOW: Window = { shown: 40, below: 0 };
/** So near to an edge, in pixels, that the next ones are drawn or fetched. */
export const NEAR = 600;
/** So many at once that drawing them takes no long task. */
const STEP = 10;
/** No row is lower. */
const LOWEST_ROW = 30;

/** So many rows fill a viewport of this height, and what is near it. Each one more costs at every frame in which rows move. */
const mostIn = (height: number) => Math.ceil((height + 2 * NEAR) / LOWEST_ROW) + STEP;

export function slice(window: Window, count: number): { from: number; to: number } {
  const to = Math.max(0, count - window.below);
  return { from: Math.max(0, to - window.shown), to };
}

/** Further up; what is far below a viewport of this height is let go. */
export function upwards(window: Window, count: number, height: number): Window {
  const { from, to } = slice(window, count);
  const first = Math.max(0, from - STEP);
  const last = Math.min(to, first + mostIn(height));
  return { shown: last - first, below: count - last };
}

/** Further down; what is far above a viewport of this height is let go. */
export function downwards(window: Window, count: number, height: number): Window {
  const { from, to } = slice(window, count);
  const last = Math.min(count, to + STEP);
  const first = Math.max(from, last - mostIn(height));
  return { shown: last - first, below: count - last };
}
