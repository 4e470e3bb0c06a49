import { LANGUAGES } from 'virtual:messages';
import { expect, test } from 'vitest';
import { wordingFor } from './wording.ts';

test('the button has a text in every language of the interface', () => {
  const languages = Object.keys(LANGUAGES).filter(language => language !== 'en');
  const said = languages.map(wordingFor);
  expect(new Set(said.map(one => one.open)).size).toBe(languages.length);
  expect(said.filter(one => one.open === wordingFor('en').open)).toEqual([]);
  for (const one of said) expect(one.unread(7)).toContain('7');
});

test('it uses the plural forms of the language, and English for unknown languages', () => {
  expect(wordingFor('de-AT').unread(1)).toBe('1 ungelesene Nachricht');
  expect(wordingFor('en').unread(3)).toBe('3 unread messages');
  for (const lang of ['eo', '', 'constructor', '__proto__'])
    expect(wordingFor(lang).open).toBe('Open messenger');
});
