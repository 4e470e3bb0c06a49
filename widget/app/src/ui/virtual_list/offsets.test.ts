import { expect, test } from 'vitest';
import { Offsets } from './offsets.ts';

const mixed = new Offsets(10_000, i => (i % 100 === 0 ? 36 : 60));

test('each row starts below the previous one', () => {
  expect(mixed.start(0)).toBe(0);
  expect(mixed.start(1)).toBe(36);
  expect(mixed.start(2)).toBe(96);
  expect(mixed.total).toBe(100 * 36 + 9_900 * 60);
});

test('rowAt returns the row that covers a position', () => {
  for (const i of [0, 1, 99, 100, 5_000, 9_999]) {
    expect(mixed.rowAt(mixed.start(i))).toBe(i);
    expect(mixed.rowAt(mixed.start(i + 1) - 1)).toBe(i);
  }
});

test('a viewport at any position shows a bounded number of rows', () => {
  for (let y = 0; y < mixed.total; y += 7_777) {
    const { first, end } = mixed.visible(y, 480);
    expect(mixed.start(first)).toBeLessThanOrEqual(y);
    expect(mixed.start(end)).toBeGreaterThanOrEqual(Math.min(y + 480, mixed.total));
    expect(end - first).toBeLessThanOrEqual(10);
  }
});

test('a position outside of the list returns the nearest row', () => {
  expect(mixed.rowAt(-50)).toBe(0);
  expect(mixed.rowAt(mixed.total + 1_000)).toBe(9_999);
  expect(new Offsets(0, () => 60).visible(0, 500)).toEqual({ first: 0, end: 0 });
  expect(mixed.visible(0, 0)).toEqual({ first: 0, end: 0 });
});

test('reveal scrolls as little as possible', () => {
  const even = new Offsets(100, () => 50);
  expect(even.reveal(5, 0, 500)).toBe(0);
  expect(even.reveal(10, 0, 500)).toBe(50);
  expect(even.reveal(3, 400, 500)).toBe(150);
});
