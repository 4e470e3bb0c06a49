// Writes the types of the texts (messages.d.ts). With `--check` it writes nothing and fails if any language has wrong
// texts; with `--complete` it also fails if texts are missing.

import { readFileSync, writeFileSync } from 'node:fs';
import { BASE, readCatalogues } from './messages/catalogue.mjs';
import { problems, shadowed } from './messages/check.mjs';
import { missing } from './messages/compile.mjs';
import { types } from './messages/types.mjs';

const TYPES = new URL('../messages.d.ts', import.meta.url);
const alike = JSON.parse(readFileSync(new URL('messages/alike.json', import.meta.url), 'utf8'));
const catalogues = readCatalogues();
const written = types(catalogues);

if (!process.argv.includes('--check')) {
  writeFileSync(TYPES, written);
} else {
  const wrong = [
    ...shadowed(catalogues),
    ...languages().flatMap(one => problems(catalogues, one, [...alike['*'], ...(alike[one] ?? [])])),
  ];
  if (readFileSync(TYPES, 'utf8') !== written)
    wrong.push('widget/messages.d.ts is not up to date: npm run messages');
  const untranslated = languages().flatMap(one =>
    missing(catalogues, one).map(path => `${one} ${path}: missing`),
  );
  if (process.argv.includes('--complete')) wrong.push(...untranslated);
  for (const one of wrong) console.error(one);
  if (wrong.length > 0) process.exitCode = 1;
  else
    console.log(
      `${catalogues.size} languages, ${catalogues.get(BASE).size} texts, ${untranslated.length} not translated`,
    );
}

function languages() {
  return Array.from(catalogues.keys());
}
