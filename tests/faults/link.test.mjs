// Links between processes can be cut, stalled and slowed.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { Link } from './link.mjs';

let echo;
let link;
before(async () => {
  echo = createServer(socket => socket.on('error', () => {}).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  link = await Link.open(0, echo.address().port);
});
after(async () => {
  await link.close();
  echo.close();
});

async function connected() {
  const socket = connect(link.server.address().port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function answer(socket, text) {
  socket.write(text);
  const [bytes] = await once(socket, 'data');
  return bytes.toString();
}

test('bytes pass, also after a link was healed', async () => {
  const socket = await connected();
  assert.equal(await answer(socket, 'one'), 'one');
  link.stall();
  socket.write('two');
  link.heal();
  const [bytes] = await once(socket, 'data');
  assert.equal(bytes.toString(), 'two');
  socket.destroy();
});

test('a cut closes connections, and new ones too', async () => {
  const socket = await connected();
  const closed = once(socket, 'close');
  link.cut();
  await closed;
  const other = await connected();
  await once(other, 'close');
  link.heal();
  const third = await connected();
  assert.equal(await answer(third, 'again'), 'again');
  third.destroy();
});

test('a slow link keeps the order of bytes, also when it is healed', async () => {
  const socket = await connected();
  const begin = performance.now();
  link.slow(30);
  assert.equal(await answer(socket, 'zero'), 'zero');
  // There and back. A timer of Node counts whole milliseconds, so it may end almost one early.
  const took = performance.now() - begin;
  assert.ok(took >= 2 * 29, `${took} ms`);
  socket.write('one,');
  // The link has it, and holds it.
  while (![...link.pairs].some(({ ways }) => ways.some(way => way.isBusy))) await new Promise(setImmediate);
  link.heal();
  socket.write('two');
  let heard = '';
  while (heard.length < 'one,two'.length) heard += (await once(socket, 'data'))[0];
  assert.equal(heard, 'one,two');
  socket.destroy();
});
