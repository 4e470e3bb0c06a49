import { expect, test } from 'vitest';
import { choicesOf, isOpen, percentOf } from './poll_result.ts';

test('a poll is open until it ends or is closed', () => {
  const poll = { choices: [], voters: 0 };
  expect(isOpen(poll, 5)).toBe(true);
  expect(isOpen({ ...poll, ends: 6 }, 5)).toBe(true);
  expect(isOpen({ ...poll, ends: 5 }, 5)).toBe(false);
  expect(isOpen({ ...poll, closed: true }, 5)).toBe(false);
});

test('percentages are relative to the number of voters', () => {
  expect(percentOf(0, 0)).toBe(0);
  expect(percentOf(1, 3)).toBe(33);
  expect(percentOf(3, 3)).toBe(100);
});

test('empty choices are ignored', () => {
  expect(choicesOf(['a', '', ' '])).toBe('few');
  expect(choicesOf([' a ', 'a', ''])).toBe('same');
  expect(choicesOf([' a ', 'b', ''])).toEqual(['a', 'b']);
});
