import { expect, test } from 'vitest';
import { heights, peaksOf } from './peaks.ts';

test('peaks are at most 64 digits, the loudest is z, and each part has its own maximum', () => {
  expect(peaksOf([0, 0.5, 1])).toBe('0iz');
  expect(peaksOf([0.1, -0.2])).toBe('iz');
  const ramp = peaksOf(Float32Array.from({ length: 48_000 }, (_, at) => Math.sin(at) * (at / 48_000)));
  expect(ramp).toMatch(/^[0-9a-z]{64}$/);
  expect(heights(ramp)).toEqual(heights(ramp).toSorted((a, b) => a - b));
  expect(ramp.at(-1)).toBe('z');
});

test('silence has low peaks, and an empty recording has none', () => {
  expect(peaksOf([0.001, 0.002, 0.001])).toMatch(/^[0-4]{3}$/);
  expect(peaksOf([])).toBe('');
});

test('heights of any input are from 0 to 1', () => {
  expect(heights('0z')).toEqual([0, 1]);
  for (const height of heights('A<é 9')) expect(height).toSatisfy((one: number) => one >= 0 && one <= 1);
});
