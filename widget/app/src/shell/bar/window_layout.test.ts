import { direct } from '@kith/client';
import { expect, test } from 'vitest';
import {
  type Arrangement,
  closed,
  drawn,
  moved,
  NOTHING,
  opened,
  putAway,
  roomFor,
} from './window_layout.ts';

const [ana, tom, mei] = ['ana', 'tom', 'mei'].map(direct) as [never, never, never];
const after = (...steps: ((before: Arrangement) => Arrangement)[]) =>
  steps.reduce((before, step) => step(before), NOTHING);
const open =
  (key: never, room = 2) =>
  (before: Arrangement) =>
    opened(before, key, room);

test('the newest stands at the corner, and an open one stays where it is', () => {
  const two = after(open(ana), open(tom));
  expect(two.windows).toEqual([tom, ana]);
  expect(opened(two, ana, 2)).toBe(two);
});

test('what finds no room is a head until there is', () => {
  const three = after(open(ana), open(tom), open(mei));
  expect(drawn(three, 2)).toEqual({ windows: [mei, tom], heads: [ana] });
  expect(drawn(three, 3)).toEqual({ windows: [mei, tom, ana], heads: [] });
  expect(drawn(opened(three, ana, 2), 2)).toEqual({ windows: [ana, mei], heads: [tom] });
});

test('one is put away as a head, opened from there, and closed', () => {
  const away = putAway(after(open(ana), open(tom)), tom);
  expect(away).toEqual({ windows: [ana], heads: [tom] });
  expect(opened(away, tom, 2)).toEqual({ windows: [tom, ana], heads: [] });
  expect(closed(closed(away, tom), ana)).toEqual(NOTHING);
});

test('who goes by another id stays in their place', () => {
  const all = putAway(after(open(ana), open(tom), open(mei)), mei);
  const mia = direct('mia') as never;
  expect(moved(all, ana, mia)).toEqual({ windows: [tom, mia], heads: [mei] });
  expect(moved(all, mei, mia)).toEqual({ windows: [tom, ana], heads: [mia] });
  expect(moved(all, ana, mei)).toEqual({ windows: [tom], heads: [mei] });
  expect(moved(all, mia, ana)).toEqual(closed(all, mia));
});

test('no more than twelve are kept', () => {
  let all = NOTHING;
  for (let n = 0; n < 40; n++)
    all = opened(n % 3 === 0 ? putAway(all, direct(`u${n - 1}`)) : all, direct(`u${n}`), 2);
  expect(all.windows.length + all.heads.length).toBeLessThanOrEqual(12);
  expect(all.windows[0]).toBe(direct('u39'));
});

test('so many windows as the width has room for', () => {
  expect([320, 1_100, 1_280, 1_920, 2_560].map(roomFor)).toEqual([1, 2, 2, 4, 6]);
});
