import type { Message } from '@kith/client';
import { expect, test } from 'vitest';
import { downwards, FIRST_WINDOW, type Item, itemsOf, slice, upwards, type Window } from './items.ts';

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

test('messages of one person stand together until somebody else writes or time passes', () => {
  const items = itemsOf(
    [
      message(1, 'ana', NOON),
      message(2, 'ana', NOON + MINUTE),
      message(3, 'me', NOON + 2 * MINUTE),
      message(4, 'me', NOON + 20 * MINUTE),
    ],
    undefined,
    dayOf,
  );
  expect(outline(items)).toEqual(['day', '(m1 ', ' m2)', '(m3)', '(m4)']);
});

test('a reply in a thread has no row in the room, and does not cut a burst in two', () => {
  const messages = [
    message(1, 'ana', NOON),
    { ...message(2, 'ben', NOON + MINUTE), thread: 1 },
    message(3, 'ana', NOON + 2 * MINUTE),
    { ...message(4, 'me', NOON + 3 * MINUTE), thread: 1 },
  ];
  expect(outline(itemsOf(messages, 2, dayOf))).toEqual(['day', '(m1)', 'unread', '(m3)']);
  expect(outline(itemsOf(messages, 4, dayOf))).toEqual(['day', '(m1 ', ' m3)']);
});

test('a new day begins with a separator', () => {
  const items = itemsOf(
    [message(1, 'ana', NOON - 12 * 60 * MINUTE - 1), message(2, 'ana', NOON - 12 * 60 * MINUTE)],
    undefined,
    dayOf,
  );
  expect(outline(items)).toEqual(['day', '(m1)', 'day', '(m2)']);
});

test('the unread line stands once, before the first unread message of somebody else', () => {
  const items = itemsOf(
    [1, 2, 3].map(seq => message(seq, seq === 2 ? 'me' : 'ana', NOON)),
    2,
    dayOf,
  );
  expect(outline(items)).toEqual(['day', '(m1)', '(m2)', 'unread', '(m3)']);
});

test('only the newest own message says its state in words, and only at the end', () => {
  const says = (items: Item[]) =>
    items.flatMap(item => (item.kind === 'message' && item.sayState ? [item.id] : []));
  const mine = [message(1, 'me', NOON), message(2, 'me', NOON)];
  expect(says(itemsOf(mine, undefined, dayOf))).toEqual(['m2']);
  expect(says(itemsOf([...mine, message(3, 'ana', NOON)], undefined, dayOf))).toEqual([]);
});

test('ids are unique although a clock may go back over midnight', () => {
  const midnight = NOON - 12 * 60 * MINUTE;
  const items = itemsOf(
    [message(1, 'a', midnight), message(2, 'a', midnight - 1), message(3, 'a', midnight)],
    undefined,
    dayOf,
  );
  expect(new Set(items.map(item => item.id)).size).toBe(items.length);
});

test('scrolling through any length keeps the number of elements bounded and leaves nothing out', () => {
  const count = 5_000;
  let window: Window = FIRST_WINDOW;
  let highest = slice(window, count).from;
  while (highest > 0) {
    const { to } = slice(window, count);
    window = upwards(window, count);
    const next = slice(window, count);
    expect(next.to - next.from).toBeLessThanOrEqual(240);
    expect(next.from).toBeLessThan(highest);
    expect(next.to).toBeGreaterThan(highest);
    expect(next.to).toBeLessThanOrEqual(to);
    highest = next.from;
  }
  let lowest = slice(window, count).to;
  while (lowest < count) {
    window = downwards(window, count);
    const next = slice(window, count);
    expect(next.to - next.from).toBeLessThanOrEqual(240);
    expect(next.from).toBeLessThan(lowest);
    expect(next.to).toBeGreaterThan(lowest);
    lowest = next.to;
  }
  expect(window.below).toBe(0);
});
