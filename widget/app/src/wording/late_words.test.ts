import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { lateWords, wordsOf } from './late_words.ts';
import { fetchWording } from './wording.ts';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '..');
const FILES = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
const read = (name: string) => readFileSync(join(SOURCE, name), 'utf8');

test('late texts are fetched once in the language of the shell, and include those of the shell', async () => {
  const wording = await fetchWording(['fr-CH']);
  const fetchLazy = vi.spyOn(wording, 'fetchLazy');
  expect(() => wordsOf(wording, 'toasts')).toThrow();
  await lateWords.fetch(wording);
  await lateWords.fetch(wording);
  const words = wordsOf(wording, 'toasts');
  expect([words.dismiss, words.contacts, words.language]).toEqual(['Masquer', 'Contacts', 'fr-CH']);
  expect(words).toBe(wordsOf(wording, 'toasts'));
  expect(fetchLazy).toHaveBeenCalledTimes(1);
});

test('a namespace has no texts of other namespaces', async () => {
  const wording = await fetchWording(['en']);
  await lateWords.fetch(wording);
  expect(wordsOf(wording, 'rooms').minutes(3)).toBe('3 minutes');
  expect(wordsOf(wording, 'toasts')).not.toHaveProperty('minutes');
});

test('a module that shows a lazy icon imports its shape', () => {
  const shapes = Array.from(read('ui/icon/lazy_shapes.ts').matchAll(/^ {2}(\w+):/gm), match => match[1]);
  const drawn = new RegExp(`icon(?:=|: )'(?:${shapes.join('|')})'|<Icon name="(?:${shapes.join('|')})"`);
  const without = FILES.filter(name => /\.tsx?$/.test(name) && !name.includes('.test.'))
    .filter(name => drawn.test(read(name)))
    .filter(name => !read(name).includes('lazy_shapes.ts'));
  expect(without).toEqual([]);
});
