import { describe, expect, test } from 'vitest';
import { de } from './de.ts';
import { en } from './en.ts';
import { fetchWording, wordingFor as made } from './wording.ts';

const wordingFor = (wanted: readonly string[], timeZone?: string) => made(wanted, { en, de }, timeZone);

const NOON = Date.UTC(2026, 2, 12, 12, 0);
const MINUTE = 60_000;
const DAY = 86_400_000;

describe('language', () => {
  test('the first wanted language that we speak is taken, with its region', () => {
    expect(wordingFor(['eo', 'de-CH', 'en']).language).toBe('de-CH');
    expect(wordingFor(['de-AT']).chats).toBe('Chats');
    expect(wordingFor(['de-AT']).contacts).toBe('Kontakte');
  });

  test('without one it is English', () => {
    expect(wordingFor(['eo', 'la']).contacts).toBe('Contacts');
    expect(wordingFor([]).contacts).toBe('Contacts');
  });

  test('what is no language tag is passed over', () => {
    expect(wordingFor(['<script>', 'not a tag', '-', 'de']).language).toBe('de');
  });

  test('direction follows the page even where its words are missing', () => {
    expect(wordingFor(['ar', 'en']).direction).toBe('rtl');
    expect(wordingFor(['en']).direction).toBe('ltr');
  });
});

test('only the language that is read is fetched', async () => {
  expect((await fetchWording(['eo', 'de-CH'])).contacts).toBe('Kontakte');
  expect((await fetchWording(['__proto__', 'constructor', 'eo'])).contacts).toBe('Contacts');
  const hebrew = await fetchWording(['he-IL']);
  expect([hebrew.contacts, hebrew.direction, typeof hebrew.late]).toEqual(['אנשי קשר', 'rtl', 'function']);
});

describe('numbers', () => {
  test('plural forms come from the language', () => {
    const english = wordingFor(['en']);
    expect(english.unread(1)).toBe('1 unread message');
    expect(english.unread(2)).toBe('2 unread messages');
    expect(wordingFor(['de']).unread(1)).toBe('1 ungelesene Nachricht');
  });
});

describe('times', () => {
  const wording = wordingFor(['en-GB'], 'UTC');

  test('a separator names near days and dates far ones', () => {
    expect(wording.day(NOON - MINUTE, NOON)).toBe('Today');
    expect(wording.day(NOON - DAY, NOON)).toBe('Yesterday');
    expect(wording.day(NOON - 3 * DAY, NOON)).toBe('Monday');
    expect(wording.day(NOON - 30 * DAY, NOON)).toBe('10 February 2026');
  });

  test('yesterday begins at midnight, not 24 hours ago', () => {
    const justAfterMidnight = Date.UTC(2026, 2, 12, 0, 5);
    expect(wording.day(justAfterMidnight - 10 * MINUTE, justAfterMidnight)).toBe('Yesterday');
  });

  test('a clock of the other side that is ahead reads as now', () => {
    expect(wording.short(NOON + 5 * MINUTE, NOON)).toBe('now');
    expect(wording.day(NOON + DAY, NOON)).toBe('Today');
    expect(wording.ago(NOON + MINUTE, NOON)).toBe('now');
  });

  test('what stands beside a face is short', () => {
    expect(wording.ago(NOON - 51 * MINUTE, NOON)).toBe('51 min ago');
    expect(wording.ago(NOON - DAY, NOON)).toBe('yesterday');
    expect(wordingFor(['de']).ago(NOON - 51 * MINUTE, NOON)).toBe('vor 51 Min.');
  });

  test('a row gets coarser with age', () => {
    expect(wording.short(NOON - 5 * MINUTE, NOON)).toMatch(/5/);
    expect(wording.short(NOON - 3 * 60 * MINUTE, NOON)).toBe('9:00');
    expect(wording.short(NOON - 2 * DAY, NOON)).toBe('Tue');
    expect(wording.short(NOON - 30 * DAY, NOON)).toBe('10 Feb');
  });
});
