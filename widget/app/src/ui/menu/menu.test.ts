import { expect, test } from 'vitest';
import { placeIn } from './menu.tsx';

const FRAME = { left: 1000, top: 100, width: 360, height: 600 };
const SIZE = { width: 200, height: 150 };

test('a menu is below its button and aligned with the end of the button', () => {
  const button = { left: 1310, top: 200, width: 40, height: 40 };
  expect(placeIn(FRAME, button, SIZE)).toEqual({ left: 150, top: 144 });
});

test('a menu near the bottom opens upwards', () => {
  const button = { left: 1310, top: 640, width: 40, height: 40 };
  expect(placeIn(FRAME, button, SIZE).top).toBe(386);
});

test('a menu stays in the frame even if it does not fit', () => {
  const low = { ...FRAME, height: 160 };
  const button = { left: 1000, top: 110, width: 40, height: 40 };
  expect(placeIn(low, button, SIZE)).toEqual({ left: 8, top: 8 });
});
