// Runs the browser tests, the longest files first, so that no processor is idle while the last file runs.
//
// A few files that fail run once more, alone. A test that fails only beside others is named as unstable at the end: it waits for too
// little, or shows a race of the widget. Mend it. A file that fails twice fails the run.

import { spawnSync } from 'node:child_process';
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

/** More failed files than these are no accident. */
const MOST_AGAIN = 3;
const failed = new Map();

run({
  files,
  // The value is for two processors: a file waits for a quarter of its time, so a third file keeps them busy.
  concurrency: 3,
  timeout: 1_200_000,
  forceExit: true,
})
  .on('test:fail', ({ file, name }) => {
    process.exitCode = 1;
    failed.set(file, [...(failed.get(file) ?? []), name]);
  })
  .compose(spec)
  .pipe(process.stdout);

// Tests that hang are ended by an exit of this process, so this is its last moment.
process.on('exit', () => {
  if (failed.size === 0 || failed.size > MOST_AGAIN) return;
  const passes = file => {
    console.log(`--- once more: ${file}`);
    const again = spawnSync(process.execPath, ['--test', '--test-force-exit', file], {
      stdio: 'inherit',
      timeout: 600_000,
    });
    return again.status === 0;
  };
  const broken = [...failed.keys()].filter(file => !passes(file));
  for (const [file, names] of failed) {
    console.log(
      `--- ${broken.includes(file) ? 'broken' : 'unstable'}: ${basename(file)}: ${names.join('; ')}`,
    );
  }
  process.exitCode = broken.length > 0 ? 1 : 0;
});
