// Polls and threads in a replica, and queued messages that have more than a text.

import { expect, test } from 'vitest';
import { direct, RequestError, room } from './client.ts';
import { richOf } from './message_extras.ts';
import { find } from './message_range.ts';
import { Replica } from './replica.ts';
import type { Event, Message, Welcome } from './wire.ts';

const ROOM = room('r_9');
const POSITION = 'p1.1';

function welcomed() {
  const replica = new Replica();
  const say = (event: Event, request?: object) =>
    replica.apply({ c: 'event', event, now: 0, ...(request && { request: request as never }) });
  const record = {
    conversation: 'r_9',
    room: { name: 'Bikers', kind: 'public', role: 'member', members: 2 },
    received: 0,
    read: 0,
    their_received: 0,
    their_read: 0,
    unread: 0,
    mentions: 0,
    muted_until: 0,
    pinned: false,
    archived: false,
    active: 1,
  } as const;
  const welcome = {
    t: 'welcome',
    session: 's',
    me: { user: 'anna', name: 'Anna' },
    presence: 'online',
    open: true,
    limits: {},
    time: 0,
    expires: 1,
    resumed: false,
    conversations: [record],
    messages: [],
    gaps: [],
    contacts: [],
    position: POSITION,
  } as unknown as Event & Welcome;
  say(welcome);
  const hear = (seq: number, more: Partial<Message> = {}) =>
    say({
      t: 'message',
      conversation: 'r_9',
      seq,
      from: 'ben',
      id: `b-${seq}`,
      body: 'x',
      time: 100 + seq,
      position: POSITION,
      ...more,
    });
  const at = (seq: number) => find(replica.known(ROOM).stretches, seq) as Message;
  return { replica, say, hear, at };
}

test('a reply is counted at its root, once', () => {
  const { hear, at } = welcomed();
  hear(1);
  hear(2, { thread: 1, number: 1 });
  hear(3, { thread: 1, number: 2 });
  hear(3, { thread: 1, number: 2 });
  expect(at(1).replies).toEqual({ count: 2, last: 103 });
  hear(4, { thread: 9, number: 1 });
  expect(at(4)).toMatchObject({ thread: 9 });
});

test('an own reply without a number is counted as the next one', () => {
  const { replica, hear, say, at } = welcomed();
  hear(1);
  hear(2, { thread: 1, number: 1 });
  const bears = { say: { thread: 1 }, shows: { thread: 1 } };
  replica.apply({
    c: 'action',
    action: { a: 'queue', id: 'a-1', key: ROOM, body: 'y', time: 1, bears },
    now: 0,
  });
  say({ t: 'ack', id: 'a-1', conversation: 'r_9', seq: 3, time: 200, position: POSITION });
  expect(at(3)).toMatchObject({ body: 'y', thread: 1, from: 'anna' });
  expect(at(1).replies).toEqual({ count: 2, last: 200 });
});

test('after a gap the server sends the number of replies', () => {
  const { hear, say, at } = welcomed();
  hear(1);
  hear(2, { thread: 1, number: 1 });
  const threads = [
    { conversation: 'r_9', seq: 1, replies: { count: 40, last: 900 } },
    { conversation: 'r_9', seq: 7, replies: { count: 3, last: 900 } },
  ];
  const gaps = [{ conversation: 'r_9', first: 60 }];
  const nothing = { conversations: [], messages: [], contacts: [] };
  say({ t: 'changes', re: 1, reset: false, ...nothing, gaps, threads, position: POSITION });
  expect(at(1).replies).toEqual({ count: 40, last: 900 });
  const older = [{ conversation: 'r_9', seq: 1, replies: { count: 39, last: 800 } }];
  say({ t: 'changes', re: 2, reset: false, ...nothing, gaps, threads: older, position: POSITION });
  expect(at(1).replies?.count).toBe(40);
});

test('a poll is closed, a pin and a preview are removed, without the whole message', () => {
  const { replica, hear, say, at } = welcomed();
  const poll = { choices: [{ text: 'Lake', votes: 1 }], voters: 1 };
  const preview = { url: 'https://kith.example', title: 'Kith' };
  hear(1, { poll, pinned: true, preview } as Partial<Message>);
  const counts = (version: number, more: object) =>
    say({
      t: 'counts',
      conversation: 'r_9',
      seq: 1,
      version,
      reactions: [],
      position: POSITION,
      ...more,
    } as Event);
  counts(2, { poll: { votes: [1], voters: 1, closed: true }, pinned: true, preview: true });
  expect(at(1)).toMatchObject({ poll: { closed: true, voters: 1 }, pinned: true, preview });
  replica.takeHappened();
  counts(3, { poll: { votes: [1], voters: 1, closed: true } });
  expect(at(1).pinned).toBeUndefined();
  expect(at(1).preview).toBeUndefined();
  expect(at(1).poll?.closed).toBe(true);
  expect(replica.takeHappened()).toContainEqual(['unpinned', { key: ROOM, seq: 1 }]);
});

test('a page of a thread is no stretch of the room', () => {
  const { replica, hear, say } = welcomed();
  hear(9);
  const reply = {
    conversation: 'r_9',
    seq: 2,
    from: 'ben',
    id: 'b-2',
    body: 'x',
    time: 1,
    thread: 1,
    number: 1,
  };
  const request = { t: 'history', rid: 1, to: { conversation: 'r_9' }, thread: 1 };
  say({ t: 'history', re: 1, conversation: 'r_9', messages: [reply], more: false }, request);
  expect(replica.known(ROOM).stretches.map(one => [one.from, one.to])).toEqual([[9, 9]]);
});

test('a vote of another user does not change the own vote', () => {
  const { hear, say, at } = welcomed();
  const poll = (votes: number, mine: boolean) => ({
    choices: [
      { text: 'Lake', votes, ...(mine && { mine }) },
      { text: 'Town', votes: 0 },
    ],
    voters: votes,
  });
  hear(1, { poll: poll(0, false) });
  const update = (version: number, by: string, votes: number, mine: boolean) =>
    say({ t: 'update', message: { ...at(1), version, poll: poll(votes, mine) }, by, position: POSITION });
  update(2, 'anna', 1, true);
  update(3, 'ben', 2, false);
  expect(at(1).poll?.choices[0]).toEqual({ text: 'Lake', votes: 2, mine: true });
  update(4, 'anna', 1, false);
  expect(at(1).poll?.choices[0]).toEqual({ text: 'Lake', votes: 1 });
});

test('counts of votes change my choice only where they are mine, and name nobody in an anonymous poll', () => {
  const { hear, say, at } = welcomed();
  const choices = [
    { text: 'Lake', votes: 0 },
    { text: 'Town', votes: 0 },
  ];
  hear(1, { poll: { choices, voters: 0, anonymous: true } });
  const counts = (version: number, votes: number[], voters: number, more: object) =>
    say({
      ...{ t: 'counts', conversation: at(1).conversation, seq: 1, version, reactions: [] },
      ...{ poll: { votes, voters }, position: POSITION, ...more },
    });
  counts(2, [1, 0], 1, { by: 'anna', chose: [0] });
  counts(3, [1, 4], 5, {});
  expect(at(1).poll).toEqual({
    ...{ anonymous: true, voters: 5 },
    choices: [
      { text: 'Lake', votes: 1, users: ['anna'], mine: true },
      { text: 'Town', votes: 4, users: [] },
    ],
  });
});

test('a poll, a forwarded message and a reply are sent with their own fields, and shown at once', () => {
  const { replica } = welcomed();
  const sent: unknown[][] = [];
  const send = (...one: unknown[]) => {
    sent.push(one);
    return 'id';
  };
  const ask = () => Promise.reject(new RequestError('offline'));
  const rich = richOf({ replica, ask, send });
  rich.poll(ROOM, 'Where?', { choices: ['Lake', 'Town'], multiple: true });
  const choices = [
    { text: 'Lake', votes: 0 },
    { text: 'Town', votes: 0 },
  ];
  expect(sent[0]).toEqual([
    ROOM,
    'Where?',
    undefined,
    undefined,
    {
      say: { t: 'poll', choices: ['Lake', 'Town'], multiple: true },
      shows: { poll: { choices, voters: 0, multiple: true } },
    },
  ]);
  const message = {
    id: 'b-1',
    seq: 1,
    from: 'ben',
    mine: false,
    body: 'x',
    time: 1,
    state: 'received',
  } as const;
  rich.forward(ROOM, message, direct('carla'));
  expect(sent[1]?.[4]).toEqual({
    say: { t: 'forward', conversation: 'r_9', seq: 1 },
    shows: { forwarded: { from: 'ben' } },
  });
  rich.reply(ROOM, 8, 'y');
  expect(sent[2]?.[4]).toEqual({ say: { thread: 8 }, shows: { thread: 8 } });
  expect(() => rich.idOf(direct('nobody'))).toThrow(RequestError);
});
