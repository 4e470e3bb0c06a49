import { expect, test } from 'vitest';
import { minutesOf, timeOf } from './clock_time.ts';

test('a time of day and its minutes convert to each other', () => {
  for (const [minutes, time] of [
    [0, '00:00'],
    [61, '01:01'],
    [1_320, '22:00'],
    [1_439, '23:59'],
  ] as const) {
    expect(timeOf(minutes)).toBe(time);
    expect(minutesOf(time)).toBe(minutes);
  }
  expect(minutesOf('')).toBeUndefined();
  expect(minutesOf('22:00:30')).toBe(1_320);
});
