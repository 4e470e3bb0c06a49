// Who is here, who writes, and what one knows when one is not here oneself.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import { world } from './world.ts';

const BEN = direct('ben');

test('watched users are told; of whom nothing is said, they are not here; without a connection nobody knows', async () => {
  const { clock, server, online } = world();
  const { client } = await online('ana');
  const ben = await online('ben');
  client.watch(['ben', 'cem']);
  await clock.advance(500);
  expect(client.presence('ben')).toEqual({ presence: 'online' });
  expect(client.presence('cem')).toEqual({ presence: 'unknown' });
  await clock.advance(2_000);
  expect(client.presence('cem')).toEqual({ presence: 'offline' });
  const heard: string[] = [];
  client.subscribe('presence:ben', () => heard.push(client.presence('ben').presence));
  server.reachable = false;
  server.cutAll();
  await clock.advance(10);
  expect(client.presence('ben')).toEqual({ presence: 'unknown' });
  ben.client.destroy();
  server.reachable = true;
  await clock.advance(60_000);
  expect(client.presence('ben')).toEqual({ presence: 'offline' });
  expect(heard).toEqual(['unknown', 'unknown', 'offline']);
});

test('someone who left while not watched is not shown as online when watched again', async () => {
  const { clock, online } = world();
  const { client } = await online('ana');
  const ben = await online('ben');
  const unwatch = client.watch(['ben']);
  await clock.advance(500);
  unwatch();
  await clock.advance(500);
  ben.client.destroy();
  await clock.advance(500);
  client.watch(['ben']);
  await clock.advance(3_000);
  expect(client.presence('ben').presence).toBe('offline');
});

test('typing is said seldom, lapses, and ends with the message', async () => {
  const { clock, server, online } = world();
  const ana = await online('ana');
  const ben = await online('ben');
  server.says('ana', 'ben', 'hi', 'x');
  await clock.advance(100);
  for (let key = 0; key < 20; key++) {
    ana.client.setTyping(BEN, true);
    await clock.advance(300);
  }
  expect(server.log.filter(one => one.command.t === 'typing').length).toBe(2);
  expect(ben.client.typing(direct('ana'))).toEqual(['ana']);
  const heard: (readonly string[])[] = [];
  ben.client.subscribe(`typing:${direct('ana')}`, () => heard.push(ben.client.typing(direct('ana'))));
  await clock.advance(7_000);
  expect(heard).toEqual([[]]);
  ana.client.setTyping(BEN, true);
  await clock.advance(100);
  expect(ben.client.typing(direct('ana'))).toEqual(['ana']);
  ana.client.send(BEN, 'done');
  await clock.advance(100);
  expect(ben.client.typing(direct('ana'))).toEqual([]);
  expect(heard.at(-1)).toEqual([]);
});

test('a presence that was chosen offline is told when there is a connection', async () => {
  const { clock, server, online } = world();
  const { client } = await online('ana');
  server.reachable = false;
  server.cutAll();
  await clock.advance(10);
  client.setPresence('busy');
  expect(client.me()?.presence).toBe('busy');
  server.reachable = true;
  await clock.advance(60_000);
  expect(server.log.filter(one => one.command.t === 'presence').map(one => one.command)).toEqual([
    { t: 'presence', set: 'busy' },
  ]);
  expect(client.me()?.presence).toBe('busy');
});
