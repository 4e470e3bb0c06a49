import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const UI = join(dirname(fileURLToPath(import.meta.url)), '../src/ui');

test('shared parts import neither features nor the shell', () => {
  const files = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter(
    name => /\.tsx?$/.test(name) && !name.includes('.test.'),
  );
  const wrong = files.flatMap(name =>
    Array.from(
      readFileSync(join(UI, name), 'utf8').matchAll(/['"](?:\.\.\/)+(?:features|shell)\/[^'"]+['"]/g),
      match => [name, match[0]],
    ),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});
