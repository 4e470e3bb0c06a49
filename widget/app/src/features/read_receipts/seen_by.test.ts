import { type Member, room } from '@kith/client';
import { expect, test } from 'vitest';
import { allMembers, hasSeenBy, seenBy } from './seen_by.ts';

const bikers = room('8000000000000001');

const member = (user: string, received?: number, read?: number): Member => ({
  user,
  name: user,
  ...(received !== undefined && { received }),
  ...(read !== undefined && { read }),
});

test('members who read a message are separate from members who only received it', () => {
  const all = [
    member('me', 9, 9),
    member('ana', 7, 7),
    member('ben', 9, 3),
    member('eve', 2, 2),
    member('tom'),
  ];
  const { seen, delivered } = seenBy(all, 5, 'me');
  expect([seen, delivered].map(some => some.map(one => one.user))).toEqual([['ana'], ['ben']]);
});

test('only members of small rooms have read receipts', () => {
  const has = (room: object | undefined) => hasSeenBy({ conversation: () => ({ room }) } as never, bikers);
  expect(has({ members: 50, role: 'member' })).toBe(true);
  expect(has({ members: 51, role: 'member' })).toBe(false);
  expect(has({ members: 2 })).toBe(false);
  expect(has(undefined)).toBe(false);
});

test('short pages are loaded one after the other, up to the size of a small room', async () => {
  const asked: (string | undefined)[] = [];
  const page = async (_: string, __?: string, after?: string) => {
    asked.push(after);
    return {
      members: Array.from({ length: 20 }, (_, at) => member(`${after}${at}`)),
      next: `n${asked.length}`,
    };
  };
  expect(await allMembers({ members: page } as never, bikers)).toHaveLength(60);
  expect(asked).toEqual([undefined, 'n1', 'n2']);
});
