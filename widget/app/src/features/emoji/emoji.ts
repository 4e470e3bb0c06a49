// Finds emoji by group and shortcode, and stores the recent ones.

import { GROUPS } from './emoji_data.ts';

export interface Emoji {
  char: string;
  /** The first is its name. */
  codes: readonly string[];
  tones: boolean;
}

export type Group = keyof typeof GROUPS;

/** Skin tones. The empty one is yellow. */
export const TONES: readonly string[] = ['', '\u{1f3fb}', '\u{1f3fc}', '\u{1f3fd}', '\u{1f3fe}', '\u{1f3ff}'];

export const groups: readonly { group: Group; emoji: readonly Emoji[] }[] = Object.entries(GROUPS).map(
  ([group, text]) => ({ group: group as Group, emoji: text.split(/\s+/).map(read) }),
);

const all: readonly Emoji[] = groups.flatMap(one => one.emoji);
const byCode = new Map(all.flatMap(one => one.codes.map(code => [code, one] as const)));

function read(word: string): Emoji {
  const [, char = '', codes = '', tones = ''] = /^(.+?)([+-]?[a-z0-9_][a-z0-9_,+-]*)(\^?)$/u.exec(word) ?? [];
  return { char, codes: codes.split(','), tones: tones !== '' };
}

export function find(code: string): Emoji | undefined {
  return byCode.get(code);
}

/** Sorted by the best match: exact shortcode, start of the shortcode, start of a later word, any other part. */
export function search(query: string, most: number): Emoji[] {
  const wanted = query.trim().toLowerCase().replace(/\s+/g, '_');
  if (wanted === '') return [];
  const ranked = all.flatMap(emoji => {
    const rank = Math.min(...emoji.codes.map(code => rankOf(code, wanted)));
    return rank < NO_MATCH ? [{ emoji, rank }] : [];
  });
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(one => one.emoji);
}

const NO_MATCH = 4;

function rankOf(code: string, wanted: string): number {
  if (code === wanted) return 0;
  if (code.startsWith(wanted)) return 1;
  if (code.includes(`_${wanted}`)) return 2;
  return code.includes(wanted) ? 3 : NO_MATCH;
}

export function toned({ char, tones }: Emoji, tone: string): string {
  // A skin tone replaces the variation selector U+FE0F, which requests a coloured picture.
  return tones && tone !== '' ? char.replace('\ufe0f', '') + tone : char;
}

const KEY = 'kith.emoji';
const MOST_RECENT = 24;

interface Kept {
  recent: string[];
  tone: string;
}

/** Read from local storage. Nothing is stored before the user chooses an emoji or a tone. */
export function kept(): Kept {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '');
    const { recent, tone } = value as Partial<Kept>;
    return {
      recent: Array.isArray(recent)
        ? recent.filter(one => typeof one === 'string').slice(0, MOST_RECENT)
        : [],
      tone: TONES.find(one => one === tone) ?? '',
    };
  } catch {
    return { recent: [], tone: '' };
  }
}

export function keepUsed(char: string): void {
  const { recent, tone } = kept();
  keep({ recent: [char, ...recent.filter(one => one !== char)].slice(0, MOST_RECENT), tone });
}

export function keepTone(tone: string): void {
  keep({ ...kept(), tone });
}

function keep(value: Kept): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden, so nothing is remembered.
  }
}
