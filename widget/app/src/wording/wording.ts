/** All texts, numbers and times that a member reads, in the member's language. */

import { LANGUAGES, type LateMessages, type Messages, type RareMessages } from 'virtual:messages';
import { pluralOf } from 'virtual:messages/plural';

/** The texts of the shell together with times and numbers of the same language. */
export interface Wording extends ShellTexts {
  /** BCP 47 tag, for `lang`. */
  language: string;
  direction: 'ltr' | 'rtl';
  /** Fetches the texts of lazy parts. */
  fetchLazy(): Promise<LateMessages>;
  /** Fetches the texts of lazy parts that few members open. */
  fetchRare(): Promise<RareMessages>;
  /** Clock time of a message: "10:02". */
  clock(time: number): string;
  /** Full date and time, for tooltips and screen readers. */
  full(time: number): string;
  /** Separator between days: "Today", "Yesterday", "Monday", "3 March 2026". */
  day(time: number, now: number): string;
  /** Time in a list row: "now", "5 min. ago" in short, "10:02", "Mon", "3 Mar". */
  short(time: number, now: number): string;
  /** Time in a sentence: "5 min ago", "yesterday". */
  ago(time: number, now: number): string;
  number(n: number): string;
  /** A list in a sentence: "Ana, Tom and Mei". */
  list(names: readonly string[]): string;
}

type ShellTexts = Messages['shell'];

const RTL = new Set(['ar', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi']);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The wording of the first wanted language that has texts, else English. Dates follow the wanted region (`de-CH`).
 * The direction follows the first wanted language even if it has no texts, because the page around the widget has
 * that direction.
 */
export async function fetchWording(wanted: readonly string[], timeZone?: string): Promise<Wording> {
  const tags = wanted.filter(isLanguageTag);
  const language = tags.find(tag => Object.hasOwn(LANGUAGES, base(tag))) ?? 'en';
  const texts = await LANGUAGES[base(language)]?.();
  if (texts === undefined) throw new Error(`no texts for ${language}`);
  const zone = timeZone === undefined ? {} : { timeZone };
  const plural = pluralOf(language);
  const clock = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit', ...zone });
  const full = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', ...zone });
  const weekday = new Intl.DateTimeFormat(language, { weekday: 'long', ...zone });
  const weekdayShort = new Intl.DateTimeFormat(language, { weekday: 'short', ...zone });
  const date = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', year: 'numeric', ...zone });
  const dateShort = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', ...zone });
  const yearShort = new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'numeric',
    year: '2-digit',
    ...zone,
  });
  // The style is `short`, because the text is next to a picture, where "51 minutes" would be cut.
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const relativeShort = new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'narrow' });
  const list = new Intl.ListFormat(language, { style: 'long', type: 'conjunction' });
  const number = new Intl.NumberFormat(language);
  const calendar = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...zone,
  });
  const daysBetween = (time: number, now: number) =>
    Math.round((Date.parse(calendar.format(now)) - Date.parse(calendar.format(time))) / DAY);
  const words = texts.shell(plural);

  return {
    ...words,
    language,
    direction: RTL.has(base(tags[0] ?? language)) ? 'rtl' : 'ltr',
    fetchLazy: async () => (await texts.late()).late(plural),
    fetchRare: async () => (await (await texts.late()).rare()).rare(plural),
    clock: time => clock.format(time),
    full: time => full.format(time),
    day(time, now) {
      const days = daysBetween(time, now);
      if (days <= 0) return words.today;
      if (days === 1) return words.yesterday;
      return days < 7 ? weekday.format(time) : date.format(time);
    },
    short(time, now) {
      if (now - time < MINUTE) return words.now;
      if (now - time < HOUR) return relativeShort.format(-Math.floor((now - time) / MINUTE), 'minute');
      const days = daysBetween(time, now);
      if (days <= 0) return clock.format(time);
      if (days < 7) return weekdayShort.format(time);
      return (days < 300 ? dateShort : yearShort).format(time);
    },
    ago(time, now) {
      const passed = Math.max(0, now - time);
      if (passed < MINUTE) return words.now;
      if (passed < HOUR) return relative.format(-Math.floor(passed / MINUTE), 'minute');
      if (passed < DAY) return relative.format(-Math.floor(passed / HOUR), 'hour');
      return relative.format(-Math.floor(passed / DAY), 'day');
    },
    number: n => number.format(n),
    list: names => list.format(names),
  };
}

/** The member's languages, best first: the tag's own setting, the page, the browser. */
export function wantedLanguages(
  setting: string | undefined,
  page: Document,
  browser: readonly string[],
): string[] {
  return [setting ?? '', page.documentElement.lang, ...browser].filter(tag => tag !== '');
}

function base(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0] ?? '';
}

/** The `lang` of a page may contain any text, and Intl throws on an invalid tag. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
