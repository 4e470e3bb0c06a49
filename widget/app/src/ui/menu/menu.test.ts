import { expect, test } from 'vitest';
import { placeIn } from './menu.tsx';

const FRAME = { left: 1000, top: 100, width: 360, height: 600 };
const SIZE = { width: 200, height: 150 };

test('a menu hangs below its button and ends where the button ends', () => {
  const button = { left: 1310, top: 200, width: 40, height: 40 };
  expect(placeIn(FRAME, button, SIZE)).toEqual({ left: 150, top: 144 });
});

test('near the bottom it opens upwards', () => {
  const button = { left: 1310, top: 640, width: 40, height: 40 };
  expect(placeIn(FRAME, button, SIZE).top).toBe(386);
});

test('it never leaves the frame, even where nothing fits', () => {
  const low = { ...FRAME, height: 160 };
  const button = { left: 1000, top: 110, width: 40, height: 40 };
  expect(placeIn(low, button, SIZE)).toEqual({ left: 8, top: 8 });
});
