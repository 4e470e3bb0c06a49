// Runs the browser tests, the longest files first, so that no processor is idle while the last file runs.

import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

/** Files that take more than 40 s of CPU time, the longest first. The others may have any order. */
const LONG = [
  'screens',
  'interface',
  'group_calls',
  'conversation',
  'inbox',
  'call_window',
  'afternoon',
  'push',
  'rooms',
  'rich',
  'invitations',
  'long_history',
];

const folder = fileURLToPath(new URL('.', import.meta.url));
const rank = file => {
  const at = LONG.indexOf(basename(file, '.test.mjs'));
  return at === -1 ? LONG.length : at;
};
const files = readdirSync(folder)
  .filter(name => name.endsWith('.test.mjs'))
  .map(name => folder + name)
  .sort((one, other) => rank(one) - rank(other));

run({
  files,
  // The value is for two processors: a file waits for a quarter of its time, so a third file keeps them busy.
  concurrency: 3,
  timeout: 1_200_000,
  forceExit: true,
})
  .on('test:fail', () => {
    process.exitCode = 1;
  })
  .compose(spec)
  .pipe(process.stdout);
