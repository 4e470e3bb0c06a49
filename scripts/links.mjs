// Fails if a page of the documentation links to a missing file, heading or picture, or has marks of a merge conflict.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const pages = [
  ...readdirSync('.').filter(name => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true }).filter(name => name.endsWith('.md') && !name.startsWith('book/')).map(name => join('docs', name)),
  ...readdirSync('widget').filter(name => name.endsWith('.md')).map(name => join('widget', name)),
];
const headings = new Map();
const wrong = [];

for (const page of pages) {
  if (/^(<{7}|>{7}) /m.test(textOf(page))) wrong.push(`${page}: marks of a merge conflict`);
  for (const target of linksOf(textOf(page))) {
    const [path, anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(file)) wrong.push(`${page}: there is no ${file}`);
    else if (anchor && !headingsOf(file).has(anchor)) wrong.push(`${page}: ${file} has no heading #${anchor}`);
  }
}
const listed = new Set(linksOf(textOf('docs/SUMMARY.md')).map(path => join('docs', path)));
for (const page of pages.filter(page => page.startsWith('docs/') && page !== 'docs/SUMMARY.md')) {
  if (!listed.has(page)) wrong.push(`docs/SUMMARY.md does not list ${page}`);
}
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exit(1);
}

/** The text of a page without code, because brackets in code are no links. */
function textOf(page) {
  return readFileSync(page, 'utf8')
    .replace(/^(```|~~~)[^]*?^\1/gm, '')
    .replace(/`[^`\n]*`/g, '');
}

/** The local links of a page. Links to other sites are left out, because the check must not depend on them. */
function linksOf(text) {
  const targets = [...text.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)].map(match => match[1]);
  return targets.filter(target => !/^[a-z]+:/.test(target));
}

/** The anchors of a page's headings, made as GitHub and mdBook make them. */
function headingsOf(file) {
  const known = headings.get(file);
  if (known) return known;
  const text = readFileSync(file, 'utf8').replace(/^(```|~~~)[^]*?^\1/gm, '');
  const names = new Set();
  for (const [, heading] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading.toLowerCase().replace(/[`*]/g, '').replace(/[^\p{L}\p{N} _-]/gu, '').trim().replace(/ /g, '-');
    let free = name;
    for (let again = 1; names.has(free); again += 1) free = `${name}-${again}`;
    names.add(free);
  }
  headings.set(file, names);
  return names;
}
