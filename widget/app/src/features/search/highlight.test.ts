import { expect, test } from 'vitest';
import { excerpt, marked, type Piece } from './highlight.ts';

const shown = (pieces: readonly Piece[]) =>
  pieces.map(one => (one.hit ? `[${one.text}]` : one.text)).join('');

test.each([
  ['Motor oil is warm', 'motor oil', '[Motor] [oil] is warm'],
  ['motorway', 'mot', '[motorway]'],
  ['motorway', 'mot ', 'motorway'],
  ['a mop', 'mo', 'a mop'],
  ['Die Größe, grosse Grösse', 'größe', 'Die [Größe], grosse Grösse'],
  ['Café und cafe\u0301', 'cafe', '[Café] und [cafe\u0301]'],
  ['مرحبا بكم في المقهى', 'المقهى', 'مرحبا بكم في [المقهى]'],
  ['شكرًا جزيلا', 'شكرا', '[شكرًا] جزيلا'],
  ['👍🏽 ok 👍', 'ok', '👍🏽 [ok] 👍'],
  ['<b>x</b> & (x)', 'x', '<b>[x]</b> & ([x])'],
  ['nothing', '', 'nothing'],
  ['', 'x', ''],
  ['.*+?^$ a', '.*', '.*+?^$ a'],
])('%s for %s', (text, query, expected) => {
  expect(shown(marked(text, query))).toBe(expected);
});

test('an excerpt is one line and starts at a word near the hit', () => {
  expect(shown(excerpt('one\n\ntwo  three', 'three'))).toBe('one two [three]');
  const long = `${'many words stand before it '.repeat(20)}and here is the needle at last`;
  const line = shown(excerpt(long, 'needle'));
  expect(line).toMatch(/^…\S.*\[needle\] at last$/);
  expect(line.indexOf('[')).toBeLessThan(30);
  expect(shown(excerpt(`${'x'.repeat(100)} ${'y'.repeat(500)}`, 'zzz')).length).toBeLessThanOrEqual(200);
});
