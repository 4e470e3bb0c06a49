// Limits for the gzipped bytes and the requests of a page's downloads. The build fails above them.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';

const LOADER = 10_000;
const SHELL = 60_000;
/** All files until a member can read and write in the first chat. */
const FIRST_CHAT = 75_000;
const FIRST_CHAT_REQUESTS = 12;
/** Requests besides the files: the token of the site, and the connection. */
const TOKEN_AND_CONNECTION = 2;
/** The parts of the first call. */
const CALL = 40_000;

export async function budget(dist, { shell, chat, call }) {
  const size = async names => {
    const sizes = await Promise.all(names.map(name => stat(join(dist, `${name}.gz`))));
    return sizes.reduce((sum, one) => sum + one.size, 0);
  };
  const first = ['kith.js', ...shell, ...chat];
  check('loader', await size(['kith.js']), LOADER, 'bytes gzipped');
  check('interactive shell', await size(shell), SHELL, 'bytes gzipped');
  check('first chat', await size(first), FIRST_CHAT, 'bytes gzipped');
  check('first chat', first.length + TOKEN_AND_CONNECTION, FIRST_CHAT_REQUESTS, 'requests');
  check('call', await size(call), CALL, 'bytes gzipped');
}

function check(what, value, limit, unit) {
  console.log(`${what}: ${value} of ${limit} ${unit}`);
  if (value > limit) {
    console.error(`${what} is over its budget`);
    process.exitCode = 1;
  }
}
