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

test('the newest window is at the corner, and an open one keeps its place', () => {
  const two = after(open(ana), open(tom));
  expect(two.windows).toEqual([tom, ana]);
  expect(opened(two, ana, 2)).toBe(two);
});

test('a window that does not fit is a head until it fits', () => {
  const three = after(open(ana), open(tom), open(mei));
  expect(drawn(three, 2)).toEqual({ windows: [mei, tom], heads: [ana] });
  expect(drawn(three, 3)).toEqual({ windows: [mei, tom, ana], heads: [] });
  expect(drawn(opened(three, ana, 2), 2)).toEqual({ windows: [ana, mei], heads: [tom] });
});

test('a window can be minimized, opened again and closed', () => {
  const away = putAway(after(open(ana), open(tom)), tom);
  expect(away).toEqual({ windows: [ana], heads: [tom] });
  expect(opened(away, tom, 2)).toEqual({ windows: [tom, ana], heads: [] });
  expect(closed(closed(away, tom), ana)).toEqual(NOTHING);
});

test('a chat whose key changes keeps its place', () => {
  const all = putAway(after(open(ana), open(tom), open(mei)), mei);
  const mia = direct('mia') as never;
  expect(moved(all, ana, mia)).toEqual({ windows: [tom, mia], heads: [mei] });
  expect(moved(all, mei, mia)).toEqual({ windows: [tom, ana], heads: [mia] });
  expect(moved(all, ana, mei)).toEqual({ windows: [tom], heads: [mei] });
  expect(moved(all, mia, ana)).toEqual(closed(all, mia));
});

test('the layout keeps at most twelve chats', () => {
  let all = NOTHING;
  for (let n = 0; n < 40; n++)
    all = opened(n % 3 === 0 ? putAway(all, direct(`u${n - 1}`)) : all, direct(`u${n}`), 2);
  expect(all.windows.length + all.heads.length).toBeLessThanOrEqual(12);
  expect(all.windows[0]).toBe(direct('u39'));
});

test('the number of windows depends on the width', () => {
  expect([320, 1_100, 1_280, 1_920, 2_560].map(roomFor)).toEqual([1, 2, 2, 4, 6]);
});
