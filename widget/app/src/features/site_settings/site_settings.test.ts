import { expect, test } from 'vitest';
import { GROUPS, patchOf, valueAt } from './site_settings.ts';
import { de } from './words.de.ts';
import { en } from './words.en.ts';

const PATHS = GROUPS.flatMap(group => group.settings.map(one => one.path));

test('every setting has its words in each language, and each value that can be chosen', () => {
  for (const words of [en(), de()]) {
    expect(Object.keys(words.settings).sort()).toEqual([...PATHS].sort());
    for (const path of Object.keys(words.hints)) expect(PATHS).toContain(path);
    for (const { settings } of GROUPS) {
      for (const { path, kind } of settings) {
        expect(words.settings[path]).not.toBe('');
        if (kind.is !== 'choice') continue;
        for (const value of kind.values)
          expect(words.values, `${path}=${value}`).toHaveProperty([value || 'default']);
      }
    }
  }
});

test('a value is found by its path', () => {
  const settings = { access: 'open', requests: { on: true }, calls: { from: null } };
  expect(valueAt(settings, 'access')).toBe('open');
  expect(valueAt(settings, 'requests.on')).toBe(true);
  expect(valueAt(settings, 'calls.from')).toBe(null);
  expect(valueAt(settings, 'newer.one')).toBe(undefined);
});

test('a patch names what was changed and nothing else', () => {
  const values = new Map<string, unknown>([
    ['requests.on', false],
    ['requests.per_day', 5],
    ['access', 'closed'],
  ]);
  expect(patchOf(values)).toEqual({ requests: { on: false, per_day: 5 }, access: 'closed' });
  expect(patchOf(new Map())).toEqual({});
});
