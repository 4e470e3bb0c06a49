// An open conversation: pages, gaps and the unread line.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import { world } from './world.ts';

const BEN = direct('ben');

test('opening fills the screen, scrolling back loads pages, and the first message ends it', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 120; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.seen(BEN, 120);
  const seqs = () => client.timeline(BEN).messages.map(one => one.seq);
  expect(seqs()).toEqual([120]);
  client.open(BEN);
  expect(client.timeline(BEN).loading).toBe('newest');
  await clock.advance(100);
  expect(seqs()).toEqual(range(70, 120));
  expect(client.timeline(BEN)).toMatchObject({ loading: 'no', more: true });
  client.loadOlder(BEN);
  client.loadOlder(BEN);
  expect(client.timeline(BEN).loading).toBe('older');
  await clock.advance(100);
  expect(seqs()).toEqual(range(20, 120));
  client.loadOlder(BEN);
  await clock.advance(100);
  expect(seqs()).toEqual(range(1, 120));
  expect(client.timeline(BEN).more).toBe(false);
  client.loadOlder(BEN);
  expect(client.timeline(BEN).loading).toBe('no');
  expect(server.log.filter(one => one.command.t === 'history').length).toBe(3);
});

test('a conversation without messages is empty, not failed', async () => {
  const { clock, online } = world();
  const { client } = await online('ana');
  client.open(BEN);
  await clock.advance(100);
  expect(client.timeline(BEN)).toEqual({ messages: [], more: false, loading: 'no' });
  expect(client.conversation(BEN)).toMatchObject({ exists: false, with: { user: 'ben', name: 'ben' } });
  await clock.advance(100);
  expect(client.conversation(BEN).with.name).toBe('BEN');
});

test('a page that could not be loaded shows the reason, and can be requested again', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 90; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.seen(BEN, 90);
  client.open(BEN);
  await clock.advance(100);
  server.refuse = command =>
    command.t === 'history' ? { t: 'error', code: 'unavailable', text: '', re: command.rid } : undefined;
  client.loadOlder(BEN);
  await clock.advance(100);
  expect(client.timeline(BEN)).toMatchObject({ loading: 'no', failed: 'unavailable' });
  server.refuse = () => undefined;
  client.loadOlder(BEN);
  await clock.advance(100);
  expect(client.timeline(BEN).failed).toBeUndefined();
  expect(client.timeline(BEN).messages.length).toBe(90);
});

test('a gap after a long absence is filled if the conversation is on the screen', async () => {
  const { clock, server, online } = world();
  server.gapAfter = 5;
  for (let n = 1; n <= 10; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.open(BEN);
  await clock.advance(100);
  server.reachable = false;
  server.cutAll();
  for (let n = 11; n <= 40; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  server.reachable = true;
  await clock.advance(30_000);
  expect(client.timeline(BEN).messages.map(one => one.seq)).toEqual(range(1, 40));
  expect(client.timeline(BEN).loading).toBe('no');
});

test('after an unknown position cached messages are dropped, and queued ones are sent', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 5; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.open(BEN);
  await clock.advance(100);
  server.reachable = false;
  server.cutAll();
  client.send(BEN, 'mine');
  server.epoch = 'restored';
  server.talk('ana', 'ben').messages.length = 3;
  server.talk('ana', 'ben').positions.length = 3;
  server.reachable = true;
  await clock.advance(30_000);
  expect(client.timeline(BEN).messages.map(one => one.body)).toEqual(['1', '2', '3', 'mine']);
});

test('after `behind` the client requests the dropped events, and the session continues', async () => {
  const { clock, server, online } = world();
  server.says('ben', 'ana', 'one', 'b1');
  const { client } = await online('ana');
  const session = [...server.sessions].find(one => one.user === 'ana')!;
  server.sessions.delete(session);
  server.says('ben', 'ana', 'two', 'b2');
  server.sessions.add(session);
  server.tell('ana', { t: 'behind' });
  await clock.advance(200);
  expect(client.timeline(BEN).messages.map(one => one.body)).toEqual(['one', 'two']);
  expect(client.totals().unread).toBe(2);
  expect(server.hellos).toBe(1);
});

test('the unread line keeps its place until the chat is closed or answered', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 3; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  let close = client.open(BEN);
  await clock.advance(100);
  expect(client.timeline(BEN)).toMatchObject({ unreadFrom: 1, unreadCount: 3 });
  client.seen(BEN, 3);
  expect(client.conversation(BEN).unread).toBe(0);
  expect(client.timeline(BEN).unreadFrom).toBe(1);
  close();
  close = client.open(BEN);
  expect(client.timeline(BEN).unreadFrom).toBeUndefined();
  close();
  server.says('ben', 'ana', '4', 'b4');
  await clock.advance(100);
  client.open(BEN);
  expect(client.timeline(BEN).unreadFrom).toBe(4);
  client.send(BEN, 'answer');
  expect(client.timeline(BEN).unreadFrom).toBeUndefined();
});

test('after the page was hidden the unread line is where the reader left', async () => {
  const { clock, server, online } = world();
  server.says('ben', 'ana', '1', 'b1');
  const ana = await online('ana');
  ana.client.seen(BEN, 1);
  ana.client.open(BEN);
  ana.say('hidden');
  server.says('ben', 'ana', '2', 'b2');
  server.says('ben', 'ana', '3', 'b3');
  await clock.advance(100);
  ana.say('visible');
  expect(ana.client.timeline(BEN).unreadFrom).toBe(2);
});

test('a first message of a stranger appears with their name, and so does one of my other device', async () => {
  const { clock, server, online } = world();
  server.names.set('cem', 'Cem Yıldız');
  const { client } = await online('ana');
  server.says('cem', 'ana', 'hello', 'c1');
  server.says('ana', 'dan', 'from my phone', 'd1');
  await clock.advance(1_000);
  expect(client.conversations().keys).toEqual([direct('cem'), direct('dan')]);
  expect(client.conversation(direct('cem'))).toMatchObject({ unread: 1, with: { name: 'Cem Yıldız' } });
  expect(client.timeline(direct('dan')).messages).toMatchObject([{ body: 'from my phone', mine: true }]);
});

test('a closed conversation keeps few messages in memory', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 400; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.seen(BEN, 400);
  const close = client.open(BEN);
  for (let page = 0; page < 8; page++) {
    await clock.advance(100);
    client.loadOlder(BEN);
  }
  await clock.advance(100);
  expect(client.timeline(BEN).messages.length).toBe(400);
  close();
  expect(client.timeline(BEN).messages.map(one => one.seq)).toEqual(range(301, 400));
  expect(client.timeline(BEN).more).toBe(true);
});

test('a view that asks for a message at each change causes one request per page', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 300; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.seen(BEN, 300);
  client.open(BEN);
  await clock.advance(100);
  const asked = () => server.log.filter(one => one.command.t === 'history').length;
  const before = asked();
  let turns = 0;
  let last: unknown;
  const look = () => {
    const timeline = client.timeline(BEN);
    if (timeline === last) return;
    last = timeline;
    turns += 1;
    if (turns > 100) throw new Error('it never ends');
    if (!timeline.messages.some(one => one.seq === 40)) void client.show(BEN, 40);
  };
  client.subscribe(`timeline:${BEN}`, look);
  look();
  await clock.advance(500);
  expect(client.timeline(BEN).messages.map(one => one.seq)).toEqual(range(16, 65));
  expect(asked() - before).toBe(2);
  expect(turns).toBeLessThan(10);
});

test('with more than a page unread it opens at the first unread message', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 300; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.seen(BEN, 100);
  const close = client.open(BEN);
  await clock.advance(500);
  const { messages, ...timeline } = client.timeline(BEN);
  expect(messages.map(one => one.seq)).toEqual(range(77, 126));
  expect(timeline).toMatchObject({ later: true, more: true, loading: 'no', unreadFrom: 101 });
  close();
  server.reachable = false;
  server.cutAll();
  await clock.advance(10);
  client.open(BEN);
  server.reachable = true;
  await clock.advance(60_000);
  expect(client.timeline(BEN).messages.map(one => one.seq)).toEqual(range(77, 126));
});

test('messages that were jumped over stay unread until they are seen or marked as read', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 300; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.open(BEN);
  await clock.advance(500);
  expect(client.seen(BEN, 10, 1)).toBe(true);
  void client.show(BEN);
  await clock.advance(500);
  expect(client.timeline(BEN).messages.at(-1)?.seq).toBe(300);
  expect(client.seen(BEN, 300, 291)).toBe(false);
  await clock.advance(2_000);
  expect(client.conversation(BEN)).toMatchObject({ unread: 290, readUpTo: 10 });
  void client.show(BEN, 'unread');
  await clock.advance(500);
  expect(client.timeline(BEN)).toMatchObject({ unreadFrom: 11, later: true });
  expect(client.seen(BEN, 20, 9)).toBe(true);
  expect(client.seen(BEN, 300)).toBe(true);
  expect(client.conversation(BEN)).toMatchObject({ unread: 0, readUpTo: 300 });
});

test('a missing message is requested once, and nothing changes', async () => {
  const { clock, server, online } = world();
  for (let n = 1; n <= 300; n++) server.says('ben', 'ana', `${n}`, `b${n}`);
  const { client } = await online('ana');
  client.seen(BEN, 300);
  client.open(BEN);
  await clock.advance(100);
  server.reachable = false;
  server.cutAll();
  await clock.advance(10);
  let changes = 0;
  client.subscribe(`timeline:${BEN}`, () => {
    changes += 1;
    if (changes < 100) void client.show(BEN, 40);
  });
  expect(await client.show(BEN, 40)).toBe(false);
  await clock.advance(10);
  expect(changes).toBe(0);
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
