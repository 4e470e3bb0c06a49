// Most gzipped bytes that a page downloads. Above it, the build fails.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';

const LOADER = 10_000;
const SHELL = 60_000;
/** The parts of the first call. */
const CALL = 40_000;

export async function budget(dist, { shell, call }) {
  const size = async names => {
    const sizes = await Promise.all(names.map(name => stat(join(dist, `${name}.gz`))));
    return sizes.reduce((sum, one) => sum + one.size, 0);
  };
  check('loader', await size(['kith.js']), LOADER);
  check('interactive shell', await size(shell), SHELL);
  check('call', await size(call), CALL);
}

function check(what, bytes, limit) {
  console.log(`${what}: ${bytes} of ${limit} bytes gzipped`);
  if (bytes > limit) {
    console.error(`${what} is over its budget`);
    process.exitCode = 1;
  }
}
