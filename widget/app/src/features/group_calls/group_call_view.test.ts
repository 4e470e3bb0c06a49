import { expect, test } from 'vitest';
import { comings } from './group_call_root.tsx';
import { columnsFor, groupEndOf, picturesFor } from './group_call_view.ts';

test('the total bit rate grows little with each participant', () => {
  const all = [1, 2, 3, 4, 5].map(others => others * picturesFor(others).bits);
  expect(Math.max(...all)).toBeLessThanOrEqual(1_500_000);
  expect([1, 3, 5].map(others => picturesFor(others).lines)).toEqual([720, 360, 180]);
});

test('the number of columns depends on the number of pictures', () => {
  expect([1, 2, 3, 4, 5, 6].map(pictures => columnsFor(pictures, false))).toEqual([1, 2, 2, 2, 3, 3]);
  expect([1, 2, 3, 4, 5, 6].map(pictures => columnsFor(pictures, true))).toEqual([1, 1, 2, 2, 2, 2]);
});

test('error codes become reasons, and an unknown code is a failure', () => {
  const codes = ['call_full', 'room_too_large', 'muted', 'in_call', 'internal', undefined];
  expect(codes.map(groupEndOf)).toEqual(['full', 'tooLarge', 'notAllowed', 'inCall', 'failed', 'failed']);
});

test('a participant who reconnects has neither left nor joined', () => {
  const of = (...users: string[]) => users.map(user => ({ user }));
  expect(comings(of('ann', 'bob'), of('bob', 'cat'))).toEqual({ came: ['cat'], went: ['ann'] });
  expect(comings(of('ann'), of('ann'))).toEqual({ came: [], went: [] });
});
