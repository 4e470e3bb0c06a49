import { describe, expect, test } from 'vitest';
import { fetchWording } from './wording.ts';

const NOON = Date.UTC(2026, 2, 12, 12, 0);
const MINUTE = 60_000;
const DAY = 86_400_000;

describe('language', () => {
  test('the first wanted language with texts is used, with its region', async () => {
    expect((await fetchWording(['eo', 'de-CH', 'en'])).language).toBe('de-CH');
    expect((await fetchWording(['de-AT'])).chats).toBe('Chats');
    expect((await fetchWording(['de-AT'])).contacts).toBe('Kontakte');
  });

  test('English is used if no wanted language has texts', async () => {
    expect((await fetchWording(['eo', 'la'])).contacts).toBe('Contacts');
    expect((await fetchWording([])).contacts).toBe('Contacts');
  });

  test('an invalid language tag is skipped', async () => {
    expect((await fetchWording(['<script>', 'not a tag', '-', 'de'])).language).toBe('de');
  });

  test('the direction follows the first wanted language even if it has no texts', async () => {
    expect((await fetchWording(['ur', 'en'])).direction).toBe('rtl');
    expect((await fetchWording(['en'])).direction).toBe('ltr');
  });
});

test('the fetched texts are those of the first wanted language that has texts', async () => {
  expect((await fetchWording(['eo', 'de-CH'])).contacts).toBe('Kontakte');
  expect((await fetchWording(['__proto__', 'constructor', 'eo'])).contacts).toBe('Contacts');
  const hebrew = await fetchWording(['he-IL']);
  expect([hebrew.contacts, hebrew.direction, hebrew.unread(2)]).toEqual([
    'אנשי קשר',
    'rtl',
    '2 הודעות שלא נקראו',
  ]);
});

describe('numbers', () => {
  test('plural forms come from the language', async () => {
    const english = await fetchWording(['en']);
    expect(english.unread(1)).toBe('1 unread message');
    expect(english.unread(2)).toBe('2 unread messages');
    expect((await fetchWording(['de'])).unread(1)).toBe('1 ungelesene Nachricht');
  });
});

describe('times', async () => {
  const wording = await fetchWording(['en-GB'], 'UTC');

  test('a separator shows the name of a recent day and the date of an older one', async () => {
    expect(wording.day(NOON - MINUTE, NOON)).toBe('Today');
    expect(wording.day(NOON - DAY, NOON)).toBe('Yesterday');
    expect(wording.day(NOON - 3 * DAY, NOON)).toBe('Monday');
    expect(wording.day(NOON - 30 * DAY, NOON)).toBe('10 February 2026');
  });

  test('yesterday begins at midnight, not 24 hours ago', async () => {
    const justAfterMidnight = Date.UTC(2026, 2, 12, 0, 5);
    expect(wording.day(justAfterMidnight - 10 * MINUTE, justAfterMidnight)).toBe('Yesterday');
  });

  test('a time in the future is shown as now', async () => {
    expect(wording.short(NOON + 5 * MINUTE, NOON)).toBe('now');
    expect(wording.day(NOON + DAY, NOON)).toBe('Today');
    expect(wording.ago(NOON + MINUTE, NOON)).toBe('now');
  });

  test('times in a sentence are short', async () => {
    expect(wording.ago(NOON - 51 * MINUTE, NOON)).toBe('51 min ago');
    expect(wording.ago(NOON - DAY, NOON)).toBe('yesterday');
    expect((await fetchWording(['de'])).ago(NOON - 51 * MINUTE, NOON)).toBe('vor 51 Min.');
  });

  test('the time in a list row is less exact for older messages', async () => {
    expect(wording.short(NOON - 5 * MINUTE, NOON)).toMatch(/5/);
    expect(wording.short(NOON - 3 * 60 * MINUTE, NOON)).toBe('9:00');
    expect(wording.short(NOON - 2 * DAY, NOON)).toBe('Tue');
    expect(wording.short(NOON - 30 * DAY, NOON)).toBe('10 Feb');
  });
});
