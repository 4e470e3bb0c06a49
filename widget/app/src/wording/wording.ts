/** All words, numbers and times that a member reads, in their language. */

import type { Catalogue } from './en.ts';
import type { LateTranslation, Translated } from './translated/late_translation.ts';

/** Picks the form that the language asks for; `other` stands in for forms that a text leaves out. */
export type Plural = (
  n: number,
  forms: { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>,
) => string;

/** The catalogue together with times and numbers of the same language. */
export interface Wording extends Catalogue {
  /** BCP 47 tag, for `lang`. */
  language: string;
  direction: 'ltr' | 'rtl';
  /** For the catalogues of what comes late. */
  plural: Plural;
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
  /** "Ana, Tom and Mei". */
  list(names: readonly string[]): string;
  /** In a translated language: what all late parts say. */
  late?: Language['late'];
}

export type MakeCatalogue = (plural: Plural) => Catalogue;

interface Language {
  words: (plural: Plural) => Translated<Catalogue>;
  /** Left out where each late part brings its own words along. */
  late?: () => Promise<LateTranslation>;
}

/** Each is fetched by those who read it. */
export const LANGUAGES: Record<string, () => Promise<Language>> = {
  en: () => import('./en.ts').then(one => ({ words: one.en })),
  de: () => import('./de.ts').then(one => ({ words: one.de })),
  ar: () => import('./translated/ar.ts'),
  cs: () => import('./translated/cs.ts'),
  es: () => import('./translated/es.ts'),
  fa: () => import('./translated/fa.ts'),
  fr: () => import('./translated/fr.ts'),
  he: () => import('./translated/he.ts'),
  hi: () => import('./translated/hi.ts'),
  it: () => import('./translated/it.ts'),
  ja: () => import('./translated/ja.ts'),
  ko: () => import('./translated/ko.ts'),
  nl: () => import('./translated/nl.ts'),
  pl: () => import('./translated/pl.ts'),
  pt: () => import('./translated/pt.ts'),
  ru: () => import('./translated/ru.ts'),
  sv: () => import('./translated/sv.ts'),
  tr: () => import('./translated/tr.ts'),
  uk: () => import('./translated/uk.ts'),
  zh: () => import('./translated/zh.ts'),
};
const RTL = new Set(['ar', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi']);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The wording of the first wanted language that we speak, English without one. Dates follow the wanted region
 * (`de-CH`); the direction follows the first wanted language even where its words are missing, because the
 * page around the widget runs that way.
 */
export async function fetchWording(wanted: readonly string[]): Promise<Wording> {
  const language = base(spoken(wanted, LANGUAGES));
  const spokenHere = await LANGUAGES[language]?.();
  if (spokenHere === undefined) throw new Error(`no words for ${language}`);
  const { words, late } = spokenHere;
  return { ...wordingFor(wanted, { [language]: words as MakeCatalogue }), ...(late && { late }) };
}

/** As above, with catalogues that are loaded: English, or the wanted language. */
export function wordingFor(
  wanted: readonly string[],
  catalogues: Record<string, MakeCatalogue>,
  timeZone?: string,
): Wording {
  const tags = wanted.filter(isLanguageTag);
  const language = spoken(wanted, catalogues);
  const zone = timeZone === undefined ? {} : { timeZone };
  const rules = new Intl.PluralRules(language);
  const plural: Plural = (n, forms) => forms[rules.select(n)] ?? forms.other;
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
  // Short: it stands beside a face, where "51 minutes" would be cut.
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
  const make = catalogues[base(language)];
  if (make === undefined) throw new Error(`no words for ${language}`);
  const words = make(plural);

  return {
    ...words,
    language,
    direction: RTL.has(base(tags[0] ?? language)) ? 'rtl' : 'ltr',
    plural,
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

function spoken(wanted: readonly string[], catalogues: Record<string, unknown>): string {
  return wanted.filter(isLanguageTag).find(tag => Object.hasOwn(catalogues, base(tag))) ?? 'en';
}

/** The member's languages, best first: the tag's own setting, the page, the browser. */
export function wantedLanguages(
  setting: string | undefined,
  page: Document,
  browser: readonly string[],
): string[] {
  return [setting ?? '', page.documentElement.lang, ...browser].filter(tag => tag !== '');
}

/** A name within a sentence: what it begins and ends with stays with it, whichever way the sentence runs. */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}

function base(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0] ?? '';
}

/** A page may say anything in `lang`, and Intl throws on what is no tag. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
