// Reads `messages/<language>.json` and parses its texts, which are ICU MessageFormat.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, TYPE } from '@formatjs/icu-messageformat-parser';

export const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../../messages');
/** The language that defines which texts exist, and that replaces missing texts. */
export const BASE = 'en';
/** The namespace that is fetched with the interface. The others of a language are fetched together on demand. */
export const SHELL = 'shell';
/** Namespaces of sheets that few members open. They have a file of their own, because a call waits for all others. */
export const RARE = ['appPasswords', 'settingsForm'];
/** Namespaces outside of the interface: the loader has its texts in its script, the server in its binary. */
export const ELSEWHERE = ['loader', 'server'];

/** Arguments that the code passes formatted, as `10:02` or `5 MB`. All other strings are names or texts of users. */
export const FORMATTED = ['loss', 'number', 'percent', 'rate', 'size', 'time', 'when'];

/** Reads the texts of every language by path, such as `rooms.leaveAsk`, in the order of its file. */
export function readCatalogues(folder = FOLDER) {
  const names = readdirSync(folder).filter(name => name.endsWith('.json'));
  const read = name => texts(JSON.parse(readFileSync(join(folder, name), 'utf8')));
  return new Map(names.sort().map(name => [name.slice(0, -'.json'.length), read(name)]));
}

export function texts(tree, before = '', found = new Map()) {
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') found.set(before + key, value);
    else texts(value, `${before}${key}.`, found);
  }
  return found;
}

/**
 * The parts of a text: strings, `{ insert }`, `{ plural, options }` and `{ select, options }`, each with the name of
 * its argument. Throws if the text is no ICU MessageFormat, or uses parts of it that the compiler and the server do not
 * implement.
 */
export function parseText(text) {
  const parts =
    parsed.get(text) ?? parse(text, { ignoreTag: true, requiresOtherClause: true }).map(one => part(one));
  parsed.set(text, parts);
  return parts;
}

/** A cache, because English is needed for each language. */
const parsed = new Map();

function part(element, plural) {
  switch (element.type) {
    case TYPE.literal:
      return element.value;
    case TYPE.argument:
      return { insert: element.value };
    case TYPE.number:
      if (element.style) throw new Error(`{${element.value}}: a number has no style here`);
      return { insert: element.value, number: true };
    case TYPE.pound:
      return { insert: plural, number: true };
    case TYPE.plural:
      if (element.pluralType !== 'cardinal' || element.offset !== 0)
        throw new Error(`{${element.value}}: ordinals and offsets are not supported`);
      return { plural: element.value, options: optionsOf(element, element.value) };
    case TYPE.select:
      return { select: element.value, options: optionsOf(element, plural) };
    default:
      throw new Error(`{${element.value}}: dates and times are formatted by the code`);
  }
}

function optionsOf({ options }, plural) {
  const parts = ({ value }) => value.map(one => part(one, plural));
  return Object.fromEntries(Object.entries(options).map(([key, option]) => [key, parts(option)]));
}

/** The types of a text's arguments by name: `number` for plurals, else `string`. */
export function argumentsOf(parts, found = new Map()) {
  for (const one of parts) {
    if (typeof one === 'string') continue;
    const name = one.insert ?? one.plural ?? one.select;
    if (one.number || one.plural) found.set(name, 'number');
    else if (!found.has(name)) found.set(name, 'string');
    for (const option of Object.values(one.options ?? {})) argumentsOf(option, found);
  }
  return found;
}
