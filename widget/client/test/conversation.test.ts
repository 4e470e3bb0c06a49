// Two members talk. The tests check the views of both, step by step.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import { Browser } from './browser.ts';
import { Clock } from './clock.ts';
import { Server } from './server.ts';

function world() {
  const clock = new Clock();
  const server = new Server(clock);
  return { clock, server, browser: (seed?: number) => new Browser(clock, server.open, seed) };
}

test('a message is sending, sent, received and read', async () => {
  const { clock, browser } = world();
  const ana = browser(1).tab('ana').client;
  const ben = browser(2).tab('ben').client;
  ana.connect();
  ben.connect();
  await clock.advance(100);
  expect(ana.status().state).toBe('online');

  ana.open(direct('ben'));
  ana.send(direct('ben'), 'hi  ');
  const states = () => ana.timeline(direct('ben')).messages.map(one => `${one.body} ${one.state}`);
  expect(states()).toEqual(['hi sending']);
  await clock.advance(30);
  expect(states()).toEqual(['hi sent']);
  await clock.advance(1_200);
  expect(states()).toEqual(['hi received']);
  expect(ben.totals()).toMatchObject({ unread: 1, conversations: 1 });
  ben.seen(direct('ana'), 1);
  expect(ben.totals().unread).toBe(0);
  await clock.advance(1_200);
  expect(states()).toEqual(['hi read']);
});

test('messages that are written offline are sent in order when the connection is back', async () => {
  const { clock, server, browser } = world();
  const ana = browser().tab('ana').client;
  ana.connect();
  await clock.advance(100);
  server.reachable = false;
  server.cutAll();
  for (const body of ['one', 'two', 'three']) ana.send(direct('ben'), body);
  await clock.advance(30_000);
  expect(ana.timeline(direct('ben')).messages.map(one => one.state)).toEqual([
    'sending',
    'sending',
    'sending',
  ]);
  server.reachable = true;
  await clock.advance(70_000);
  expect(server.talk('ana', 'ben').messages.map(one => one.body)).toEqual(['one', 'two', 'three']);
  expect(ana.timeline(direct('ben')).messages.map(one => one.state)).toEqual(['sent', 'sent', 'sent']);
});
