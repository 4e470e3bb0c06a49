import type { RoomView } from '@kith/client';
import { expect, test } from 'vitest';
import { silenced } from './may_write.ts';

const room = (change: Partial<RoomView>): RoomView => ({
  name: 'Bikers',
  kind: 'public',
  role: 'member',
  members: 2,
  slowMs: 0,
  frozen: false,
  maxMembers: 0,
  ...change,
});

test.each([
  [room({}), undefined],
  [room({ role: 'muted' }), 'muted'],
  [room({ frozen: true }), 'frozen'],
  [room({ frozen: true, role: 'moderator' }), undefined],
  [room({ kind: 'announcement' }), 'announcement'],
  [room({ kind: 'announcement', role: 'owner' }), undefined],
  [room({ kind: 'announcement', role: 'muted' }), 'muted'],
])('%j: %s', (one, why) => {
  expect(silenced(one)).toBe(why);
});

test('a user who is no member may not write', () => {
  const { role: _, ...strange } = room({});
  expect(silenced(strange)).toBe('stranger');
});
