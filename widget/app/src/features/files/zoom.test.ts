import { expect, test } from 'vitest';
import { inside, moved, WHOLE, zoomed } from './zoom.ts';

test('the point under the pointer stays there', () => {
  const zoom = zoomed(WHOLE, 2, { x: 100, y: -40 });
  expect(zoom).toEqual({ scale: 2, x: -100, y: 40 });
  const back = zoomed(zoom, 0.5, { x: 100, y: -40 });
  expect(back).toEqual(WHOLE);
});

test('the picture is never smaller than its place, and the zoom has a maximum', () => {
  expect(zoomed(WHOLE, 0.1)).toEqual(WHOLE);
  expect(zoomed(WHOLE, 1_000).scale).toBe(8);
});

test('the picture moves up to its edges, and a side that fits stays in the middle', () => {
  const picture = { x: 200, y: 400 };
  const place = { x: 600, y: 400 };
  const zoom = moved(zoomed(WHOLE, 2), { x: 900, y: 900 });
  expect(inside(zoom, picture, place)).toEqual({ scale: 2, x: 0, y: 200 });
  expect(inside(moved(WHOLE, { x: 50, y: 50 }), picture, place)).toEqual(WHOLE);
});
