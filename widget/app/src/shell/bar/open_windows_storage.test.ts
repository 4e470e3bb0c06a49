// @vitest-environment happy-dom

import { direct, room } from '@kith/client';
import { beforeEach, expect, test } from 'vitest';
import { keep, kept } from './open_windows_storage.ts';
import { NOTHING } from './window_layout.ts';

beforeEach(() => localStorage.clear());

test('only the same member on the same site gets the stored windows', () => {
  const some = { windows: [direct('ana')], heads: [room('r1')] };
  keep('garden', 'tom', some);
  expect(kept('garden', 'tom')).toEqual(some);
  expect([kept('garden', 'mei'), kept('other', 'tom')]).toEqual([NOTHING, NOTHING]);
});

test('nothing is stored without windows', () => {
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
])('an invalid stored value is ignored: %s', text => {
  localStorage.setItem('kith:garden:bar', text);
  expect(kept('garden', 'tom')).toEqual(NOTHING);
});
