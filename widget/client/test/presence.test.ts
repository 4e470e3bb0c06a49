// Presence and typing of others, and their state while the client itself is offline.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import type { Command } from '../src/wire.ts';
import { world } from './world.ts';

const BEN = direct('ben');

test('watched users have a presence; without an event they are offline; without a connection unknown', async () => {
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

test('a browser without locks watches contacts that were wanted before the connection', async () => {
  const { clock, server, browser, online } = world();
  server.relate('ana', 'ben', 'contact');
  await online('ben');
  const old = browser();
  old.old = true;
  const { client } = old.tab('ana');
  client.watchContacts();
  client.connect();
  await clock.advance(1_000);
  expect(client.presence('ben')).toEqual({ presence: 'online' });
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

const watches = (log: readonly { user: string; command: Command }[]) =>
  log.flatMap(({ user, command }) => (user === 'ana' && command.t === 'watch' ? [command] : []));

test('contacts are watched together, and only other users are named', async () => {
  const { clock, server, online } = world();
  for (const one of ['ben', 'cem', 'dan']) server.relate('ana', one, 'contact');
  await online('ben');
  const { client } = await online('ana');
  client.watchContacts();
  client.watch(['ben', 'cem', 'eva']);
  await clock.advance(500);
  expect(watches(server.log)).toEqual([{ t: 'watch', contacts: true, users: ['eva'] }]);
  expect(client.presence('ben').presence).toBe('online');
  for (const away of ['cem', 'dan']) expect(client.presence(away).presence).toBe('offline');
  const heard: string[] = [];
  client.subscribe('presence:dan', () => heard.push(client.presence('dan').presence));
  await online('dan');
  server.shows('dan');
  await clock.advance(100);
  expect(heard).toEqual(['online']);
});

test('a new contact need not be named; a former contact is named if shown, or else unknown', async () => {
  const { clock, server, online } = world();
  server.relate('ana', 'ben', 'contact');
  for (const one of ['ben', 'cem', 'dan']) await online(one);
  const { client } = await online('ana');
  client.watchContacts();
  client.watch(['ben', 'cem']);
  await clock.advance(500);
  server.relate('ana', 'cem', 'contact');
  server.relate('ana', 'dan', 'contact');
  await clock.advance(500);
  for (const one of ['ben', 'cem', 'dan']) expect(client.presence(one).presence).toBe('online');
  expect(watches(server.log).map(one => one.users)).toEqual([['cem'], []]);
  server.relate('ana', 'ben', 'none');
  server.relate('ana', 'dan', 'none');
  await clock.advance(500);
  expect(client.presence('dan').presence).toBe('unknown');
  expect(client.presence('ben').presence).toBe('online');
  expect(watches(server.log).at(-1)).toEqual({ t: 'watch', contacts: true, users: ['ben'] });
});

test('offline contacts are named only if their last-seen time is needed, and only until it is known', async () => {
  const { clock, server, online } = world();
  server.lastSeen.set('ben', 7).set('cem', 8);
  for (const one of ['ben', 'cem', 'dan']) server.relate('ana', one, 'contact');
  await online('dan');
  const { client } = await online('ana');
  client.watchContacts();
  client.watch(['ben', 'dan'], 'last_seen');
  client.watch(['cem']);
  await clock.advance(1_000);
  expect(watches(server.log).map(one => one.users)).toEqual([[], ['ben'], []]);
  expect(client.presence('ben')).toEqual({ presence: 'offline', lastSeen: 7 });
  expect(client.presence('cem')).toEqual({ presence: 'offline' });
});

test('with more contacts than the server lists, those on the screen are named, and the others are unknown', async () => {
  const { clock, server, online } = world();
  for (const one of ['ben', 'cem', 'dan']) {
    server.relate('ana', one, 'contact');
    await online(one);
  }
  server.mostNamed = 1;
  const { client } = await online('ana');
  client.watchContacts();
  client.watch(['ben', 'cem']);
  await clock.advance(1_000);
  expect(watches(server.log)[1]).toEqual({ t: 'watch', contacts: true, users: ['cem'] });
  expect(['ben', 'cem', 'dan'].map(one => client.presence(one).presence)).toEqual([
    'online',
    'online',
    'unknown',
  ]);
});

test('after a lost connection contacts are unknown until the server has listed the present ones', async () => {
  const { clock, server, online } = world();
  for (const one of ['ben', 'cem']) server.relate('ana', one, 'contact');
  const ben = await online('ben');
  const { client } = await online('ana');
  client.watchContacts();
  await clock.advance(500);
  server.reachable = false;
  server.cutAll();
  await clock.advance(10);
  expect([client.presence('ben'), client.presence('cem')]).toEqual([
    { presence: 'unknown' },
    { presence: 'unknown' },
  ]);
  ben.client.destroy();
  server.reachable = true;
  await clock.advance(60_000);
  expect(client.presence('ben').presence).toBe('offline');
});

test('typing is sent at a limited rate, expires, and ends with the message', async () => {
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

test('a presence that was chosen offline is sent when the connection is back', async () => {
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
