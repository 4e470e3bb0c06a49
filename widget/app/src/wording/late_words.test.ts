import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { de } from './de.ts';
import { en } from './en.ts';
import { LateWords } from './late_words.ts';
import { fetchWording, wordingFor } from './wording.ts';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '..');
const FILES = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
const read = (name: string) => readFileSync(join(SOURCE, name), 'utf8');

test('they are fetched in the language of the shell, once, and stand beside its words', async () => {
  const fetched: string[] = [];
  const words = new LateWords({
    en: () => Promise.resolve(() => ({ hello: 'Hello' })),
    de: () => {
      fetched.push('de');
      return Promise.resolve(plural => ({ hello: plural(2, { one: 'Tag', other: 'Hallo' }) }));
    },
  });
  const wording = wordingFor(['de-AT'], { de });
  expect(() => words.of(wording)).toThrow();
  await words.fetch(wording);
  await words.fetch(wording);
  expect([words.of(wording).hello, words.of(wording).contacts, fetched]).toEqual([
    'Hallo',
    'Kontakte',
    ['de'],
  ]);
});

test('where a part does not speak the language, it speaks English', async () => {
  const words = new LateWords({ en: () => Promise.resolve(() => ({ hello: 'Hello' })) });
  const wording = wordingFor(['de'], { de });
  await words.fetch(wording);
  expect(words.of(wording).hello).toBe('Hello');
});

test('in a translated language they come from its own file', async () => {
  const words = new LateWords({ en: () => Promise.resolve(() => ({ dismiss: 'Dismiss' })) }, 'notices');
  const wording = await fetchWording(['fr']);
  await words.fetch(wording);
  expect(words.of(wording).dismiss).toBe('Masquer');
});

test('no word of the shell is said a second time by a late catalogue', () => {
  const shell = new Set(Object.keys(en(() => '')));
  for (const name of FILES.filter(one => one.endsWith('words.en.ts'))) {
    const keys = Array.from(read(name).matchAll(/^ {2}(\w+):/gm), match => match[1]);
    expect(keys.filter(key => shell.has(key ?? ''))).toEqual([]);
  }
});

test('whoever draws a late shape brings it along', () => {
  const shapes = Array.from(read('ui/icon/lazy_shapes.ts').matchAll(/^ {2}(\w+):/gm), match => match[1]);
  const drawn = new RegExp(`icon(?:=|: )'(?:${shapes.join('|')})'|<Icon name="(?:${shapes.join('|')})"`);
  const without = FILES.filter(name => /\.tsx?$/.test(name) && !name.includes('.test.'))
    .filter(name => drawn.test(read(name)))
    .filter(name => !read(name).includes('lazy_shapes.ts'));
  expect(without).toEqual([]);
});
