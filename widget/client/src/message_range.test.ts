import { expect, test } from 'vitest';
import { chance } from '../test/clock.ts';
import { cover, covers, type MessageRange, newest, trim } from './message_range.ts';
import type { Message } from './wire.ts';

test('stretches that touch are joined, in whatever order they arrive', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = chance(seed);
    const known = new Set<number>();
    let stretches: readonly MessageRange[] = [];
    for (let step = 0; step < 25; step++) {
      const from = 1 + Math.floor(random() * 40);
      const to = from + Math.floor(random() ** 2 * 10);
      stretches = cover(stretches, page(from, to));
      for (let seq = from; seq <= to; seq++) known.add(seq);
      expect(stretches.flatMap(one => one.messages.map(message => message.seq))).toEqual(
        [...known].sort((a, b) => a - b),
      );
      const broken = stretches.filter((one, at) => {
        const next = stretches[at + 1];
        return (
          one.messages.length !== one.to - one.from + 1 || (next !== undefined && next.from <= one.to + 1)
        );
      });
      expect(broken, `seed ${seed}`).toEqual([]);
      const all = Array.from({ length: 60 }, (_, seq) => seq);
      expect(all.filter(seq => covers(stretches, seq))).toEqual(all.filter(seq => known.has(seq)));
    }
  }
});

test('known messages change nothing, not even the object', () => {
  const stretches = cover([], page(1, 10));
  expect(cover(stretches, page(3, 5))).toBe(stretches);
  expect(cover(stretches, page(6, 5))).toBe(stretches);
  const longer = cover(stretches, page(5, 12));
  expect(longer[0]?.messages[4]).toBe(stretches[0]?.messages[4]);
});

test('a stretch covers the numbers of deleted messages too', () => {
  const stretches = cover(cover([], { from: 1, to: 5, messages: [] }), page(6, 7));
  expect(stretches).toMatchObject([{ from: 1, to: 7 }]);
});

test('trimming keeps the newest messages of the newest stretch', () => {
  const stretches = cover(cover([], page(1, 5)), page(10, 30));
  expect(newest(trim(stretches, 5))).toMatchObject({ from: 26, to: 30 });
  expect(trim(stretches, 100)).toMatchObject([{ from: 10, to: 30 }]);
  expect(trim([], 5)).toEqual([]);
});

function page(from: number, to: number): MessageRange {
  const messages: Message[] = [];
  for (let seq = from; seq <= to; seq++) {
    messages.push({ conversation: 'c', seq, from: 'ben', id: `${seq}`, body: '', time: seq });
  }
  return { from, to, messages };
}
