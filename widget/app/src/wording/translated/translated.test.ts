import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { LateWords } from '../late_words.ts';
import { LANGUAGES, type Plural } from '../wording.ts';

type Words = { [key: string]: string | Words | ((...args: never[]) => string) };
type Make = (plural: Plural) => Words;

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '../..');
const ENGLISH = await english();
const SPOKEN = await Promise.all(
  Object.keys(LANGUAGES).map(async language => [language, await parts(language)] as const),
);
const TRANSLATED = SPOKEN.filter(([language]) => language !== 'en');

test('twenty languages are spoken', () => {
  const wanted = 'ar cs de en es fa fr he hi it ja ko nl pl pt ru sv tr uk zh'.split(' ');
  expect(Object.keys(LANGUAGES).sort()).toEqual(wanted);
});

test('every part that comes late has a name of its own, by which each language has its words', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(one =>
    one.endsWith('/words.ts'),
  );
  expect(ENGLISH.size - 1).toBe(files.length);
});

test.each(TRANSLATED)('%s: says all that English says, and nothing else', (_, spoken) => {
  for (const [part, make] of ENGLISH) {
    const there = spoken.get(part);
    const wanted = keys(make(anyForm));
    const said = there ? keys(there(anyForm)) : [];
    expect(
      wanted.filter(key => !said.includes(key)),
      `${part}: missing`,
    ).toEqual([]);
    expect(
      said.filter(key => !wanted.includes(key)),
      `${part}: nobody reads`,
    ).toEqual([]);
  }
});

test.each(SPOKEN)('%s: no text is empty', (_, spoken) => {
  for (const [part, make] of spoken)
    for (const [path, text] of texts(make(anyForm)))
      expect(typeof text === 'function' ? text(...about(text, 5)) : text, `${part}.${path}`).toMatch(/\S/);
});

test.each(TRANSLATED)('%s: each text has what it is about in it: names, numbers, times', (_, spoken) => {
  for (const [part, make] of ENGLISH) {
    const here = new Map(texts(made(spoken, part)));
    for (const [path, text] of texts(make(anyForm))) {
      const theirs = here.get(path);
      if (typeof text !== 'function' || typeof theirs !== 'function') continue;
      for (const n of [5, 1_000]) {
        const [said, meant] = [theirs, text].map(one => one(...about(text, n)));
        expect(marks(said, n), `${part}.${path}: ${said}`).toEqual(marks(meant, n));
      }
    }
  }
});

test.each(SPOKEN)('%s: each number has the form that the language asks for', (language, spoken) => {
  const rules = new Intl.PluralRules(language);
  const asked = new Set(Array.from({ length: 1_000 }, (_, n) => rules.select(n)));
  for (const make of spoken.values()) {
    const record: Plural = (_, forms) => {
      // One of them may be said by `other`, where no whole number asks for that.
      const given = new Set([...Object.keys(forms), ...(asked.has('other') ? [] : ['many'])]);
      expect(
        Array.from(asked).filter(form => !given.has(form)),
        forms.other,
      ).toEqual([]);
      return forms.other;
    };
    for (const [, text] of texts(make(record))) if (typeof text === 'function') text(...about(text, 5));
  }
});

test.each(TRANSLATED)('%s: nothing is left in English', (language, spoken) => {
  const same: string[] = [];
  for (const [part, make] of ENGLISH) {
    const here = new Map(texts(made(spoken, part)));
    for (const [path, text] of texts(make(anyForm))) {
      const [said, meant] = [here.get(path), text].map(one =>
        typeof one === 'function' ? one(...about(text, 5)) : one,
      );
      if (said === meant && !ALIKE.has(meant as string) && !LOANED[language]?.includes(meant as string))
        same.push(`${part}.${path}: ${said}`);
    }
  }
  expect(same).toEqual([]);
});

test('a translated part is fetched in its language, and is one request for all parts', async () => {
  const { words, late } = (await LANGUAGES.fr?.()) ?? {};
  const again = await LANGUAGES.fr?.();
  expect([typeof words, await late?.()]).toEqual(['function', await again?.late?.()]);
});

/** Texts that consist of names and numbers only. */
const ALIKE = new Set(['⟦0⟧: ', '5 kbit/s']);
/** Words that these languages took from English, or share with it. */
const LOANED: Record<string, readonly string[]> = {
  cs: ['Video', 'Online', 'Offline', 'Emoji'],
  de: [
    'Threads',
    'Thread',
    'Video',
    'Status',
    'Messenger',
    'Chats',
    'Online',
    'Offline',
    'Emoji',
    '⟦0⟧ in ⟦1⟧',
    'Moderator',
    'Name',
    'Position',
    'Moderation',
    'Filter',
    'Links',
    'Domains',
    'Link',
    'Admin',
  ],
  es: ['Admin', 'Chats', 'Invisible', 'Roles'],
  fr: [
    'Question',
    '5 votes',
    'direct',
    'Admin',
    'Contacts',
    'Message',
    'Invisible',
    'Mentions',
    'Pause',
    'Position',
    'Notifications',
    '5 suggestions',
    '5 minutes',
    'Messages',
    'Protection',
    'Raids',
    'Invitation',
  ],
  it: ['File', 'Link', 'Video', 'Admin', 'Account', 'Privacy', 'Online', 'Offline', 'Emoji', '⟦0⟧ in ⟦1⟧'],
  nl: [
    'Video',
    'Camera',
    'Account',
    'Status',
    'Privacy',
    'Chats',
    'Online',
    'Offline',
    '⟦0⟧ in ⟦1⟧',
    'Moderator',
    'Open',
    'Stickers',
    'Filter',
    'Filters',
    'Accounts',
    'Links',
    'Link',
  ],
  pl: ['Admin', 'Status', 'Emoji', 'Moderator', 'Link'],
  pt: ['Admin', 'Link', 'Links', 'Status', 'Online', 'Offline'],
  sv: ['Video', 'Admin', 'Filter', 'Status', 'Online', 'Offline', 'Position', 'Moderator'],
  tr: ['Emoji'],
};

/** English, by the name of the part; the shell's is `shell`. */
async function english(): Promise<Map<string, Make>> {
  const found = new Map<string, Make>();
  const shell = await LANGUAGES.en?.();
  if (shell) found.set('shell', shell.words as unknown as Make);
  for (const [name, words] of await lateWords()) found.set(name, (await words.catalogues.en()) as Make);
  return found;
}

async function parts(language: string): Promise<Map<string, Make>> {
  const { words, late } = (await LANGUAGES[language]?.()) ?? {};
  const found = new Map<string, Make>([['shell', words as unknown as Make]]);
  const translated = (await late?.()) as Record<string, Make> | undefined;
  for (const [name, part] of await lateWords()) {
    const make = translated ? translated[name] : await part.catalogues[language]?.();
    if (make) found.set(name, make as Make);
  }
  return found;
}

async function lateWords(): Promise<Map<string, LateWords<Words>>> {
  const found = new Map<string, LateWords<Words>>();
  for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('/words.ts')) continue;
    const module: Record<string, unknown> = await import(/* @vite-ignore */ join(SOURCE, file));
    for (const one of Object.values(module))
      if (one instanceof LateWords && one.name) found.set(one.name, one as LateWords<Words>);
  }
  return found;
}

const anyForm: Plural = (_, forms) => forms.other;
const made = (spoken: Map<string, Make>, part: string): Words => spoken.get(part)?.(anyForm) ?? {};
const keys = (words: Words): string[] =>
  Array.from(texts(words), ([path, text]) => `${path}: ${typeof text}`).sort();

function* texts(words: Words, before = ''): Generator<[string, string | ((...args: unknown[]) => string)]> {
  for (const [key, one] of Object.entries(words)) {
    if (typeof one === 'object') yield* texts(one, `${before}${key}.`);
    else yield [before + key, one as string | ((...args: unknown[]) => string)];
  }
}

/** Arguments that are found again in what is said; a number where English counts by it. */
function about(text: unknown, n: number): unknown[] {
  if (typeof text !== 'function') return [];
  const names = /^\(?([^)=]*)/.exec(String(text))?.[1]?.split(',') ?? [];
  return names.map((name, i) =>
    name.trim() === 'names' ? ['⟦0⟧', '⟦1⟧'] : /^(n|count|seconds|at|all)$/.test(name.trim()) ? n : `⟦${i}⟧`,
  );
}

function marks(said: string | undefined, n: number): string[] {
  return (said?.match(new RegExp(`⟦\\d⟧|${n}`, 'g')) ?? []).sort();
}
