// Generates the TypeScript types of the compiled texts from English. Missing texts and wrong calls do not compile.

import { argumentsOf, BASE, ELSEWHERE, parseText, RARE } from './catalogue.mjs';

export function types(catalogues) {
  const tree = {};
  for (const [path, text] of catalogues.get(BASE)) {
    if (path.startsWith('server.')) continue;
    const keys = path.split('.');
    let at = tree;
    for (const key of keys.slice(0, -1)) at = at[key] ??= {};
    at[keys.at(-1)] = Array.from(argumentsOf(parseText(text)));
  }
  const namespaces = Object.entries(tree).map(([name, texts]) => `    ${name}: ${print(texts, '    ')};\n`);
  const union = names => names.map(one => `'${one}'`).join(' | ');
  const elsewhere = union(['shell', ...ELSEWHERE]);
  return `// Generated from messages/en.json by \`npm run messages\`. Do not edit.

declare module 'virtual:messages' {
  import type { Plural } from 'virtual:messages/plural';

  /** The texts of every namespace. A text with one argument is a function of it; one with several takes an object. */
  export interface Messages {
${namespaces.join('')}  }
  export type RareNamespace = ${union(RARE)};
  export type RareMessages = Pick<Messages, RareNamespace>;
  export type LateNamespace = Exclude<keyof Messages, RareNamespace | ${elsewhere}>;
  export type LateMessages = Pick<Messages, LateNamespace>;
  export interface LateTexts {
    late(plural: Plural): LateMessages;
    rare(): Promise<{ rare(plural: Plural): RareMessages }>;
  }
  export interface Language {
    shell(plural: Plural): Messages['shell'];
    late(): Promise<LateTexts>;
  }
  export const LANGUAGES: Record<string, () => Promise<Language>>;
}

declare module 'virtual:messages/plural' {
  /** Picks the text of a number: one for this number alone, else the one for the form that the language asks for. */
  export type Plural = (n: number, forms: { other: string } & Record<string | number, string>) => string;
  export function pluralOf(language: string): Plural;
}

declare module 'virtual:messages/loader' {
  import type { Messages } from 'virtual:messages';
  import type { Plural } from 'virtual:messages/plural';
  type Texts = (plural: Plural) => Messages['loader'];
  export const LANGUAGES: Record<string, Texts> & { en: Texts };
}
`;
}

function print(texts, indent) {
  const lines = Object.entries(texts).map(
    ([key, value]) => `${indent}  ${member(key, value, `${indent}  `)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

function member(key, value, indent) {
  if (!Array.isArray(value)) return `${key}: ${print(value, indent)}`;
  if (value.length === 0) return `${key}: string`;
  const types = value.map(([name, type]) => `${name}: ${type}`);
  return value.length === 1
    ? `${key}(${types[0]}): string`
    : `${key}(values: { ${types.join('; ')} }): string`;
}
