import { LANGUAGES } from 'virtual:messages';
import { expect, test } from 'vitest';
import { SETTINGS } from './settings_schema.ts';
import { GROUPS, patchOf, textAt, valueAt } from './site_settings.ts';

const PATHS = GROUPS.flatMap(group => group.settings.map(one => one.path));

test('every setting and every choice has a text in each language', async () => {
  for (const fetch of Object.values(LANGUAGES)) {
    const texts = await (await fetch()).late();
    const { values } = texts.late((_, forms) => forms.other).siteSettings;
    const { settingsForm: words } = (await texts.rare()).rare((_, forms) => forms.other);
    expect(pathsOf(words.settings).sort()).toEqual([...PATHS].sort());
    for (const path of pathsOf(words.hints)) expect(PATHS).toContain(path);
    for (const { settings } of GROUPS) {
      for (const { path, kind } of settings) {
        expect(textAt(words.settings, path)).not.toBe('');
        if (kind.is !== 'choice') continue;
        for (const value of kind.values)
          expect(values, `${path}=${value}`).toHaveProperty([value ?? 'default']);
      }
    }
  }
});

test('each setting of the server is in one group, except settings with their own control', () => {
  const elsewhere = ['raid.until', 'filters.patterns', 'retention.rooms'];
  expect([...PATHS, ...elsewhere].sort()).toEqual(Object.keys(SETTINGS).sort());
  expect(GROUPS.map(({ name }) => name)).toEqual([
    'access',
    'strangers',
    'newcomers',
    'raid',
    'members',
    'filters',
  ]);
});

test('valueAt returns the value at a path', () => {
  const settings = { access: 'open', requests: { on: true }, calls: { from: null } };
  expect(valueAt(settings, 'access')).toBe('open');
  expect(valueAt(settings, 'requests.on')).toBe(true);
  expect(valueAt(settings, 'calls.from')).toBe(null);
  expect(valueAt(settings, 'newer.one')).toBe(undefined);
});

test('a patch contains only the changed settings', () => {
  const values = new Map<string, unknown>([
    ['requests.on', false],
    ['requests.per_day', 5],
    ['access', 'closed'],
  ]);
  expect(patchOf(values)).toEqual({ requests: { on: false, per_day: 5 }, access: 'closed' });
  expect(patchOf(new Map())).toEqual({});
});

function pathsOf(texts: object): string[] {
  return Object.entries(texts).flatMap(([key, text]) =>
    typeof text === 'string' ? [key] : pathsOf(text).map(path => `${key}.${path}`),
  );
}
