import type { SentFile } from '@kith/client';
import { expect, test } from 'vitest';
import { lateWords } from '../../wording/late_words.ts';
import { fetchWording } from '../../wording/wording.ts';
import { pixels } from './blurhash.ts';
import { isOver } from './file_url.ts';
import { isPicture, shownSize } from './message_files.tsx';
import { clock } from './sound_duration.ts';
import { fileWords, whyNot } from './words.ts';

const wording = await fetchWording(['en-GB'], 'UTC');
await lateWords.fetch(wording);
const words = fileWords(wording);
const file = (width?: number, height?: number, type = 'image/png') =>
  ({ id: '1', name: 'x', type, size: 1, url: '/x', width, height }) as SentFile;

test('the size of a picture is known before it is loaded', () => {
  expect(shownSize(file(1200, 800))).toEqual({ width: 240, height: 160 });
  expect(shownSize(file(800, 1200))).toEqual({ width: 200, height: 300 });
  expect(shownSize(file(100, 90))).toEqual({ width: 100, height: 90 });
  expect(shownSize(file(4000, 10))).toEqual({ width: 240, height: 80 });
  expect(shownSize(file(1, 1))).toEqual({ width: 80, height: 80 });
});

test('only a file that the server has recognized as a picture is shown as one', () => {
  expect(isPicture(file(1, 1))).toBe(true);
  expect(isPicture(file())).toBe(false);
  expect(isPicture(file(1, 1, 'image/svg+xml'))).toBe(true);
  expect(isPicture(file(1, 1, 'text/html'))).toBe(false);
});

test('a blurhash becomes pixels, and an invalid one does not', () => {
  // A red picture: `L` is the number of components, followed by no waves and the average colour.
  const red = pixels(`L0${'TI:j'}${'fQ'.repeat(11)}`, 4, 3);
  expect([...(red ?? [])].slice(0, 4)).toEqual([255, 0, 0, 255]);
  expect(red?.length).toBe(48);
  for (const nonsense of ['', 'L', 'L0TI:j', `L0TI:j${' '.repeat(22)}`, `~${'a'.repeat(40)}`]) {
    expect(pixels(nonsense, 4, 3), nonsense).toBeUndefined();
  }
});

test('sizes and errors become texts', () => {
  expect([words.size(7), words.size(48_211), words.size(104_857_600)]).toEqual([
    '7 byte',
    '48 kB',
    '104.9 MB',
  ]);
  expect(whyNot('file_too_large', words, 5_000_000)).toBe('File too large (maximum 5 MB)');
  expect(whyNot('first_contact', words, 0)).toBe('You can send files after they accept your request');
  expect(whyNot('internal', words, 0)).toBe('Upload failed');
  expect(whyNot('toString' as 'internal', words, 0)).toBe('Upload failed');
});

test('a link contains its expiry time', () => {
  expect(isOver('/v1/files/1/00ff/x?e=1000&s=a', 1_000_000)).toBe(true);
  expect(isOver('/v1/files/1/00ff/x?e=1000&s=a', 900_000)).toBe(false);
  expect(isOver('/x', 1)).toBe(false);
});

test('durations are minutes and seconds', () => {
  expect([clock(0), clock(9.99), clock(61), clock(600)]).toEqual(['0:00', '0:09', '1:01', '10:00']);
});
