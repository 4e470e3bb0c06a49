import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCatalogues, texts } from './catalogue.mjs';
import { problems, shadowed } from './check.mjs';

const ENGLISH = {
  leave: 'Leave {name}?',
  days: '{count, plural, one {1 day} other {# days}}',
  join: 'Join',
};

/** The errors in the texts of `rooms` of a language. */
function wrong(own, language = 'pl', english = ENGLISH) {
  const catalogues = new Map([['en', texts({ rooms: english })]]);
  catalogues.set(language, texts({ rooms: own }));
  return problems(catalogues, language, ['Alike']).map(problem => problem.replace(`${language} rooms.`, ''));
}

test('a correct translation has no problem, and may be incomplete', () => {
  const days = '{count, plural, one {1 dzień} few {# dni} many {# dni} other {# dnia}}';
  expect(wrong({ leave: 'Opuścić: {name}?', days, join: 'Dołącz' })).toEqual([]);
  expect(wrong({})).toEqual([]);
});

test.each([
  ['a text that English does not have', { gone: 'Nic' }, 'gone: English has no such text'],
  ['an argument that English does not have', { leave: '{nmae}?' }, 'leave: English has no argument {nmae}'],
  [
    'an argument that is left out',
    { leave: 'Opuścić?' },
    'leave: it inserts nothing, English inserts {name}',
  ],
  ['a text counted as a number', { leave: '{name, number}' }, 'leave: {name} is no number in English'],
  ['an empty text', { join: ' ' }, 'join: it is empty'],
  ['a text still in English', { join: 'Join' }, 'join: it is still in English (or belongs into alike.json)'],
  [
    'a form that the language does not have',
    { days: '{count, plural, one {1 dzień} two {2 dni} few {# dni} many {# dni} other {# dnia}}' },
    'days: {count}: the language has no form "two"',
  ],
  [
    'a form that the language asks for',
    { days: '{count, plural, one {1 dzień} other {# dni}}' },
    'days: {count}: the form "few" is missing',
  ],
  [
    'a form of several numbers that does not say which',
    { days: '{count, plural, one {1 dzień} few {dni} many {# dni} other {# dnia}}' },
    'days: {count}: the form "few" is for several numbers, but does not say which',
  ],
])('it finds %s', (_, own, problem) => {
  expect(wrong(own)).toContain(problem);
});

test.each([
  ['a brace that does not end', 'Opuścić: {name?'],
  ['a plural without the last form', '{count, plural, one {1 dzień}}'],
  ['an ordinal', '{count, selectordinal, other {#}}'],
  ['an offset', '{count, plural, offset:1 other {#}}'],
  ['a style of numbers', '{count, number, percent}'],
  ['a date', '{count, date}'],
])('it finds %s', (_, days) => {
  expect(wrong({ days }).join()).toMatch(/^days: it is not valid: /);
});

test('a word that two languages share is allowed by name', () => {
  expect(wrong({ join: 'Alike' }, 'de', { join: 'Alike' })).toEqual([]);
  expect(wrong({ join: '{name} – {name}' }, 'de', { join: '{name} – {name}' })).toEqual([]);
});

test('no other namespace has a text with the name of one of the shell', () => {
  const catalogue = { shell: { close: 'Close' }, rooms: { close: 'Close' }, loader: { close: 'Close' } };
  const found = shadowed(new Map([['en', texts(catalogue)]]));
  expect(found).toEqual(['en rooms.close: the shell has a text of that name']);
});

const CATALOGUES = readCatalogues();
const ALIKE = JSON.parse(readFileSync(new URL('alike.json', import.meta.url), 'utf8'));

test('there are twenty languages', () => {
  const wanted = 'ar cs de en es fa fr he hi it ja ko nl pl pt ru sv tr uk zh'.split(' ');
  expect(Array.from(CATALOGUES.keys())).toEqual(wanted);
});

test.each(Array.from(CATALOGUES.keys()))('%s has no problem', language => {
  expect(problems(CATALOGUES, language, [...ALIKE['*'], ...(ALIKE[language] ?? [])])).toEqual([]);
});
