import type { Message } from '@kith/client';
import { expect, test } from 'vitest';
import {
  downwards,
  FIRST_WINDOW,
  type Item,
  itemsOf,
  slice,
  upwards,
  type Window,
} from './message_list_items.ts';

const MINUTE = 60_000;
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const NOON = Date.UTC(2026, 2, 12, 12);

function message(seq: number, from: string, time: number): Message {
  return { id: `m${seq}`, seq, from, mine: from === 'me', body: 'hi', time, state: 'received' };
}

function outline(items: Item[]): string[] {
  return items.map(item =>
    item.kind === 'message' ? `${item.first ? '(' : ' '}${item.id}${item.last ? ')' : ' '}` : item.kind,
  );
}

test('messages of one sender form a group until another sender writes or time passes', () => {
  const messages = [
    message(1, 'ana', NOON),
    message(2, 'ana', NOON + MINUTE),
    message(3, 'me', NOON + 2 * MINUTE),
    message(4, 'me', NOON + 20 * MINUTE),
  ];
  const items = itemsOf({ messages, more: false }, dayOf);
  expect(outline(items)).toEqual(['day', '(m1 ', ' m2)', '(m3)', '(m4)']);
});

test('in a thread each message has a row, and the reply count is between the root and the replies', () => {
  const messages = [
    message(1, 'ben', NOON),
    { ...message(2, 'ben', NOON + MINUTE), thread: 1 },
    { ...message(4, 'me', NOON + 3 * MINUTE), thread: 1 },
  ];
  const items = itemsOf({ messages, more: false }, dayOf, 1);
  expect(items.map(one => one.id)).toEqual(['day:m1', 'm1', 'replies', 'm2', 'm4']);
  expect(items.map(one => (one.kind === 'message' ? [one.first, one.last] : []))).toEqual([
    [],
    [true, true],
    [],
    [true, true],
    [true, true],
  ]);
});

test('a thread reply has no row in the room and does not split a group', () => {
  const messages = [
    message(1, 'ana', NOON),
    { ...message(2, 'ben', NOON + MINUTE), thread: 1 },
    message(3, 'ana', NOON + 2 * MINUTE),
    { ...message(4, 'me', NOON + 3 * MINUTE), thread: 1 },
  ];
  expect(outline(itemsOf({ messages, unreadFrom: 2, more: false }, dayOf))).toEqual([
    'day',
    '(m1)',
    'unread',
    '(m3)',
  ]);
  expect(outline(itemsOf({ messages, unreadFrom: 4, more: false }, dayOf))).toEqual(['day', '(m1 ', ' m3)']);
});

test('a new day begins with a separator', () => {
  const messages = [
    message(1, 'ana', NOON - 12 * 60 * MINUTE - 1),
    message(2, 'ana', NOON - 12 * 60 * MINUTE),
  ];
  const items = itemsOf({ messages, more: false }, dayOf);
  expect(outline(items)).toEqual(['day', '(m1)', 'day', '(m2)']);
});

test('the unread line appears once, before the first unread message of another sender', () => {
  const messages = [1, 2, 3].map(seq => message(seq, seq === 2 ? 'me' : 'ana', NOON));
  const items = itemsOf({ messages, unreadFrom: 2, more: true }, dayOf);
  expect(outline(items)).toEqual(['day', '(m1)', '(m2)', 'unread', '(m3)']);
});

test('the unread line is left out while the first unread message is not loaded', () => {
  const messages = [7, 8].map(seq => message(seq, 'ana', NOON));
  const outlineOf = (more: boolean) => outline(itemsOf({ messages, unreadFrom: 2, more }, dayOf));
  expect(outlineOf(true)).toEqual(['day', '(m7 ', ' m8)']);
  expect(outlineOf(false)).toEqual(['day', 'unread', '(m7 ', ' m8)']);
});

test('an own message shows its state in words only if it is the last message', () => {
  const says = (items: Item[]) =>
    items.flatMap(item => (item.kind === 'message' && item.sayState ? [item.id] : []));
  const mine = [message(1, 'me', NOON), message(2, 'me', NOON)];
  expect(says(itemsOf({ messages: mine, more: false }, dayOf))).toEqual(['m2']);
  expect(says(itemsOf({ messages: [...mine, message(3, 'ana', NOON)], more: false }, dayOf))).toEqual([]);
});

test('item ids are unique even if the clock goes back over midnight', () => {
  const midnight = NOON - 12 * 60 * MINUTE;
  const messages = [message(1, 'a', midnight), message(2, 'a', midnight - 1), message(3, 'a', midnight)];
  const items = itemsOf({ messages, more: false }, dayOf);
  expect(new Set(items.map(item => item.id)).size).toBe(items.length);
});

test('scrolling keeps the number of rendered items bounded and skips no item', () => {
  const count = 5_000;
  let window: Window = FIRST_WINDOW;
  let highest = slice(window, count).from;
  while (highest > 0) {
    const { to } = slice(window, count);
    window = upwards(window, count, 500);
    const next = slice(window, count);
    expect(next.to - next.from).toBeLessThanOrEqual(240);
    expect(next.from).toBeLessThan(highest);
    expect(next.to).toBeGreaterThan(highest);
    expect(next.to).toBeLessThanOrEqual(to);
    highest = next.from;
  }
  let lowest = slice(window, count).to;
  while (lowest < count) {
    window = downwards(window, count, 500);
    const next = slice(window, count);
    expect(next.to - next.from).toBeLessThanOrEqual(240);
    expect(next.from).toBeLessThan(lowest);
    expect(next.to).toBeGreaterThan(lowest);
    lowest = next.to;
  }
  expect(window.below).toBe(0);
});
