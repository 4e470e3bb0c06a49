import { expect, test } from 'vitest';
import { stepped, within } from './window_position.ts';

const PAGE = { width: 1_000, height: 700 };
const WINDOW = { width: 320, height: 200 };

test('the window never leaves the page', () => {
  expect(within(PAGE, WINDOW, { left: 100, top: 100 })).toEqual({ left: 100, top: 100 });
  expect(within(PAGE, WINDOW, { left: -50, top: -50 })).toEqual({ left: 8, top: 8 });
  expect(within(PAGE, WINDOW, { left: 5_000, top: 5_000 })).toEqual({ left: 672, top: 492 });
  expect(within({ width: 300, height: 150 }, WINDOW, { left: 40, top: 40 })).toEqual({ left: 8, top: 8 });
});

test('an arrow key moves the window by one step', () => {
  expect(stepped({ left: 100, top: 100 }, 'ArrowLeft')).toEqual({ left: 68, top: 100 });
  expect(stepped({ left: 100, top: 100 }, 'ArrowDown')).toEqual({ left: 100, top: 132 });
  expect(stepped({ left: 100, top: 100 }, 'Enter')).toBeUndefined();
});
