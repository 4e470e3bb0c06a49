import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const THEME = read('./theme.css');
const GUIDE = read('../../../../../docs/embed.md');

const variables = (text: string) => new Set(text.match(/--kith-[a-z-]+/g) ?? []);
const rule = (selector: string) => THEME.slice(THEME.indexOf(`${selector} {`)).split('\n}')[0] ?? '';

test('the guide lists exactly the variables that a site may set', () => {
  const own = [...variables(rule(':host')), '--kith-z-index', '--kith-embed-height'].sort();
  const table = GUIDE.split('| variables | what |')[1]?.split('\n\n')[0] ?? '';
  expect(Array.from(variables(table)).sort()).toEqual(own);
  expect(own.length).toBeGreaterThan(40);
});

test('every colour has a value in the dark theme', () => {
  const dark = variables(rule(':host([data-theme="dark"])'));
  const colours = Array.from(rule(':host').matchAll(/(--kith-[a-z-]+): (?:#|rgb)/g), match => match[1] ?? '');
  expect(colours.filter(name => !dark.has(name))).toEqual([]);
});
