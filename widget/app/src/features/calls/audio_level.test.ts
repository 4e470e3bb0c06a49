import { expect, test } from 'vitest';
import { levelOf } from './audio_level.ts';

test('silence is 0, the highest amplitude is 1, and a tenth of it is two thirds', () => {
  expect(levelOf(new Float32Array(8))).toBe(0);
  expect(levelOf([])).toBe(0);
  expect(levelOf([1, -1, 1, -1])).toBe(1);
  expect(levelOf([0.1, -0.1])).toBeCloseTo(2 / 3);
});
