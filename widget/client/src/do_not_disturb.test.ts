import type { Me, NotificationSettings } from '@kith/client';
import { expect, test } from 'vitest';
import { isQuiet, isWithin } from './do_not_disturb.ts';

const at = (hours: number, minutes = 0) => new Date(2026, 2, 12, hours, minutes);
const NIGHT = { from: 22 * 60, to: 7 * 60 };

test('quiet hours may include midnight', () => {
  expect([21, 22, 3, 6, 7].map(hour => isWithin(NIGHT, at(hour)))).toEqual([false, true, true, true, false]);
  expect([11, 12, 13].map(hour => isWithin({ from: 720, to: 780 }, at(hour)))).toEqual([false, true, false]);
});

test('do not disturb silences calls, and a call rings if the settings are not known', async () => {
  const client = (presence: Me['presence'], settings: () => Promise<NotificationSettings>) => ({
    me: () => ({ presence }) as Me,
    notifications: settings,
  });
  const settings = { devices: 0, bodies: true };
  const always = { from: 0, to: 24 * 60, offset: 0 };
  expect(await isQuiet(client('busy', () => Promise.resolve(settings)))).toBe(true);
  expect(await isQuiet(client('online', () => Promise.resolve(settings)))).toBe(false);
  expect(await isQuiet(client('online', () => Promise.resolve({ ...settings, quiet: always })))).toBe(true);
  expect(await isQuiet(client('online', () => Promise.reject(new Error('offline'))))).toBe(false);
});
