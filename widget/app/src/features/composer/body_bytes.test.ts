import { expect, test } from 'vitest';
import { bytesOver } from './body_bytes.ts';

test('a short text is not counted', () => {
  expect(bytesOver('hello', 5_000)).toBeUndefined();
  expect(bytesOver('hello', undefined)).toBeUndefined();
});

test('near the limit, bytes are counted instead of characters', () => {
  expect(bytesOver('a'.repeat(5_000), 5_000)).toBe(0);
  expect(bytesOver('é'.repeat(2_501), 5_000)).toBe(2);
  expect(bytesOver('👋'.repeat(1_250), 5_000)).toBe(0);
});

test('every text over the limit is counted', () => {
  for (const char of ['a', 'é', '€', '👋']) {
    const text = char.repeat(5_001);
    expect(bytesOver(text, 5_000)).toBeGreaterThan(0);
  }
});
