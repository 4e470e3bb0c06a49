// @vitest-environment happy-dom

import { direct, room } from '@kith/client';
import { beforeEach, expect, test } from 'vitest';
import { keep, kept } from './open_windows_storage.ts';
import { NOTHING } from './window_layout.ts';

beforeEach(() => localStorage.clear());

test('a member finds their windows on the next page, and nobody else does', () => {
  const some = { windows: [direct('ana')], heads: [room('r1')] };
  keep('garden', 'tom', some);
  expect(kept('garden', 'tom')).toEqual(some);
  expect([kept('garden', 'mei'), kept('other', 'tom')]).toEqual([NOTHING, NOTHING]);
});

test('nothing is stored where nothing is open', () => {
  keep('garden', 'tom', { windows: [direct('ana')], heads: [] });
  keep('garden', 'tom', NOTHING);
  expect(localStorage.length).toBe(0);
});

test.each([
  '',
  'null',
  '7',
  '{',
  '{"user":"tom","windows":7}',
  '{"user":"tom","windows":["", {}, "ana", "@"]}',
])('what a page wrote there does no harm: %s', text => {
  localStorage.setItem('kith:garden:bar', text);
  expect(kept('garden', 'tom')).toEqual(NOTHING);
});
