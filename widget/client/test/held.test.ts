// Held messages: some wait for a moderator, some were refused, and some are shown as sent.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import type { HeldState } from '../src/wire.ts';
import { Browser } from './browser.ts';
import { Clock } from './clock.ts';
import { Server } from './server.ts';

const BEN = direct('ben');

function world(state: HeldState) {
  const clock = new Clock();
  const server = new Server(clock);
  const held: string[] = [];
  server.refuse = command => {
    if (command.t !== 'send' || !command.body.includes('casino')) return undefined;
    held.push(command.id);
    const { id, body } = command;
    return {
      t: 'held',
      held: { id, body, conversation: server.talk('ana', 'ben').id, user: 'ben', state, time: clock.now },
    };
  };
  const browser = new Browser(clock, server.open);
  const ana = browser.tab('ana').client;
  ana.connect();
  ana.open(BEN);
  const shown = () => ana.timeline(BEN).messages.map(one => `${one.body} ${one.state}`);
  return { clock, server, browser, ana, held, shown };
}

test('a held message is sent once, and becomes a message when it is approved', async () => {
  const { clock, server, browser, ana, held, shown } = world('waiting');
  await clock.advance(100);
  ana.send(BEN, 'the casino burns');
  ana.send(BEN, 'hello');
  await clock.advance(60_000);
  expect(held.length).toBe(1);
  expect(shown()).toEqual(['the casino burns held', 'hello sent']);
  const other = browser.tab('ana').client;
  other.connect();
  other.open(BEN);
  await clock.advance(1_000);
  expect(other.timeline(BEN).messages.map(one => one.state)).toEqual(['held', 'sent']);
  server.says('ana', 'ben', 'the casino burns', held[0]);
  await clock.advance(2_000);
  expect(shown()).toEqual(['hello sent', 'the casino burns sent']);
});

test('a refused message has the reason', async () => {
  const { clock, server, ana, held } = world('waiting');
  await clock.advance(100);
  ana.send(BEN, 'casino');
  await clock.advance(100);
  const { id: conversation } = server.talk('ana', 'ben');
  const id = held[0] ?? '';
  server.tell('ana', {
    t: 'held',
    held: {
      id,
      conversation,
      user: 'ben',
      state: 'refused',
      body: 'casino',
      time: 1,
      reason: 'No advertising',
    },
  });
  await clock.advance(100);
  const [message] = ana.timeline(BEN).messages;
  expect(message).toMatchObject({ state: 'failed', code: 'filtered', why: 'No advertising' });
  ana.discard(id);
  expect(ana.timeline(BEN).messages).toEqual([]);
});

test('a kept message stays at its time in the chat', async () => {
  const { clock, server, ana, shown } = world('kept');
  await clock.advance(100);
  ana.send(BEN, 'casino');
  await clock.advance(1_000);
  server.says('ben', 'ana', 'are you there?');
  await clock.advance(100);
  expect(shown()).toEqual(['casino sent', 'are you there? received']);
});

test('a device that was offline gets the waiting messages', async () => {
  const { clock, server, ana, shown } = world('waiting');
  await clock.advance(100);
  const { id: conversation } = server.talk('ana', 'ben');
  const held = {
    id: 'x-1',
    conversation,
    user: 'ben',
    state: 'waiting',
    body: 'from the phone',
    time: 5,
  } as const;
  server.tell('ana', { t: 'held', held });
  server.tell('ana', { t: 'held', held });
  await clock.advance(100);
  expect(shown()).toEqual(['from the phone held']);
  server.tell('ana', { t: 'site', site: { access: 'read_only', text: 'Back at noon' } });
  await clock.advance(100);
  expect(ana.me()?.site).toEqual({ access: 'read_only', text: 'Back at noon' });
  server.tell('ana', { t: 'site', site: { access: 'open' } });
  await clock.advance(100);
  expect(ana.me()?.site).toBe(undefined);
});
