// Rooms in a replica: listed for members, viewed by others, and never treated as a direct conversation.

import { beforeEach, expect, test } from 'vitest';
import { direct, pageRoom, room } from '../src/client.ts';
import { Loading } from '../src/loading.ts';
import { Replica } from '../src/replica.ts';
import type { Ask, Unnumbered } from '../src/request.ts';
import { Views } from '../src/views.ts';
import type { Command, Conversation, Event, Message, Room } from '../src/wire.ts';

const BIKERS: Room = { name: 'Bikers', kind: 'public', role: 'member', members: 3 };
const KEY = room('r1');
let replica: Replica;
let views: Views;

beforeEach(() => {
  replica = new Replica();
  views = new Views(
    replica,
    (a, b) => (a < b ? -1 : 1),
    () => 0,
  );
  hear({
    t: 'welcome',
    session: 's',
    me: { user: 'ana', name: 'Ana' },
    presence: 'online',
    open: true,
    limits: { body_bytes: 100, frame_bytes: 100, page: 100, watch: 100, idle_ms: 1, heartbeat_ms: 1 },
    time: 0,
    expires: 1,
    resumed: false,
    conversations: [record('r1', BIKERS)],
    messages: [],
    gaps: [],
    contacts: [],
    position: 'p1',
  });
});

test('a room has a name and a role instead of a person', () => {
  expect(views.conversation(KEY)).toMatchObject({
    exists: true,
    with: { user: KEY, name: 'Bikers' },
    room: { kind: 'public', role: 'member', members: 3, slowMs: 0, frozen: false, maxMembers: 0 },
  });
  expect(views.conversations('main').keys).toEqual([KEY]);
});

test('an uploaded picture of a room is on the server, and an address may be anywhere', () => {
  const named = new Views(
    replica,
    (a, b) => (a < b ? -1 : 1),
    () => 0,
    {},
    'https://im.example',
  );
  hear({
    t: 'room',
    conversation: 'r1',
    room: { ...BIKERS, picture: '/v1/room-pictures/1/0f' },
    position: 'p2',
  });
  expect(named.conversation(KEY).with.avatar).toBe('https://im.example/v1/room-pictures/1/0f');
  hear({ t: 'room', conversation: 'r1', room: { ...BIKERS, avatar: '/bikers.webp' }, position: 'p3' });
  named.invalidate([`conversation:${KEY}`]);
  expect(named.conversation(KEY).with.avatar).toBe('/bikers.webp');
});

test('messages of others count, a text with the own id is a mention, and own messages are not read', () => {
  hear(posted(1, 'ben', 'hi'));
  hear(posted(2, 'cem', 'look @ana'));
  hear(posted(3, 'ana', 'yes'));
  hear(posted(4, 'ben', 'good'));
  expect(views.timeline(KEY).messages.map(one => `${one.from} ${one.state}`)).toEqual([
    'ben received',
    'cem received',
    'ana sent',
    'ben received',
  ]);
  expect(views.conversation(KEY)).toMatchObject({ unread: 1, mentions: 0 });
  hear(posted(5, 'cem', '@ana?'));
  expect(views.totals()).toMatchObject({ unread: 2, mentions: 1, conversations: 1 });
  expect(views.conversations('main').keys).toEqual([KEY]);
});

test('a message of a blocked author counts neither as unread nor as a mention', () => {
  hear({ t: 'contact', contact: { user: 'ben', name: 'Ben', state: 'blocked' }, position: 'p2' });
  hear(posted(1, 'ben', 'look @ana'));
  expect(views.conversation(KEY)).toMatchObject({ unread: 0, mentions: 0 });
  hear(posted(2, 'cem', 'look @ana'));
  expect(views.conversation(KEY)).toMatchObject({ unread: 1, mentions: 1 });
});

test('a change of the room does not change the own role', () => {
  hear({
    t: 'room',
    conversation: 'r1',
    room: { ...without(BIKERS), name: 'Riders', frozen: true },
    position: 'p2',
  });
  expect(views.conversation(KEY).room).toMatchObject({ name: 'Riders', frozen: true, role: 'member' });
  hear({ t: 'conversation', conversation: record('r1', { ...BIKERS, role: 'muted' }), position: 'p3' });
  expect(views.conversation(KEY).room).toMatchObject({ role: 'muted' });
  expect(replica.position).toBe('p3');
});

test('a removed member gets an event, and may only view the room', () => {
  hear(posted(1, 'ben', 'hi'));
  replica.takeHappened();
  replica.apply({ c: 'action', action: { a: 'queue', id: 'q', key: KEY, body: 'late', time: 1 }, now: 1 });
  hear({ t: 'left', conversation: 'r1', reason: 'removed', position: 'p4' });
  expect(replica.takeHappened()).toEqual([['left', { key: KEY, reason: 'removed' }]]);
  expect(views.conversations('main').keys).toEqual([]);
  expect(views.totals().unread).toBe(0);
  expect(views.conversation(KEY).room).toEqual({
    name: 'Bikers',
    kind: 'public',
    members: 3,
    slowMs: 0,
    frozen: false,
    maxMembers: 0,
  });
  expect(replica.written.queue).toEqual([]);
  hear({ t: 'conversation', conversation: record('r1', BIKERS), position: 'p5' });
  expect(views.conversations('main').keys).toEqual([KEY]);
});

test('a join changes the number of members, and names who joined', () => {
  hear({ t: 'member_count', conversation: 'r1', members: 4, joined: [{ user: 'dora', name: 'Dora' }] });
  expect(views.conversation(KEY).room?.members).toBe(4);
  expect(views.conversation(KEY).room?.role).toBe('member');
  expect(views.person('dora').name).toBe('Dora');
  expect(replica.takeHappened()).toContainEqual(['joined', { key: KEY, users: ['dora'] }]);
});

test('notices of a room and of the site are both kept', () => {
  hear({ t: 'notice', notice: { kind: 'mute', until: 9 } });
  hear({ t: 'notice', notice: { kind: 'mute', conversation: 'r1', until: 7, reason: 'Too loud' } });
  expect(replica.notices.map(one => one.conversation)).toEqual([undefined, 'r1']);
  hear({ t: 'notice', notice: { kind: 'unmute', conversation: 'r1' } });
  expect(replica.notices.map(one => one.conversation)).toEqual([undefined]);
});

test('a member who leaves gets no event of a removal', () => {
  hear({ t: 'left', re: 7, conversation: 'r1', reason: 'left', position: 'p4' });
  expect(replica.takeHappened()).toEqual([]);
});

test('rooms that were left meanwhile are removed after a resume', () => {
  hear({
    t: 'changes',
    re: 1,
    reset: false,
    conversations: [],
    messages: [],
    left: [{ conversation: 'r1', reason: 'banned' }],
    gaps: [],
    contacts: [],
    position: 'p6',
  });
  expect(views.conversations('main').keys).toEqual([]);
});

test('a room of the directory can be viewed, and is in no list', () => {
  const key = room('r2');
  hear({ t: 'rooms', re: 1, rooms: [{ conversation: 'r2', room: without({ ...BIKERS, name: 'Photos' }) }] });
  replica.apply({
    c: 'event',
    event: {
      t: 'history',
      re: 2,
      conversation: 'r2',
      messages: [message('r2', 1, 'ben', 'hi')],
      more: false,
    },
    request: { t: 'history', rid: 2, to: { conversation: 'r2' } },
    now: 0,
  });
  changed();
  expect(views.timeline(key).messages).toHaveLength(1);
  expect(views.conversation(key)).toMatchObject({ with: { name: 'Photos' } });
  expect(views.conversation(key).room?.role).toBeUndefined();
  expect(views.conversations('main').keys).toEqual([KEY]);
});

test('messages of an empty room are requested once', async () => {
  let asked = 0;
  const loading = new Loading({
    replica,
    views,
    online: () => true,
    ask: (async (request: Unnumbered) => {
      asked += 1;
      const event: Event = { t: 'history', re: asked, conversation: 'r1', messages: [], more: false };
      replica.apply({ c: 'event', event, request: { ...request, rid: asked } as Command, now: 0 });
      return event;
    }) as Ask,
    changed: topics => views.invalidate(topics),
    trimmed: changed,
  });
  expect(views.timeline(KEY).more).toBe(true);
  loading.open(KEY);
  await Promise.resolve();
  await Promise.resolve();
  // The view does the same if there are no messages to scroll.
  if (views.timeline(KEY).more) loading.older(KEY);
  expect([asked, views.timeline(KEY).more, views.timeline(KEY).loading]).toEqual([1, false, 'no']);
  hear(posted(1, 'ben', 'hi'));
  expect(views.timeline(KEY).messages).toHaveLength(1);
});

test('the room of a page keeps its key when it is created', () => {
  const key = pageRoom('/thread/42');
  expect(views.conversation(key)).toMatchObject({ exists: false, with: { name: '/thread/42' } });
  replica.apply({ c: 'action', action: { a: 'queue', id: 'a-1', key, body: 'First!', time: 1 }, now: 1 });
  hear({ t: 'ack', id: 'a-1', conversation: 'r9', seq: 1, time: 2, position: 'p7' });
  const made: Room = { ...BIKERS, name: '/thread/42', page: '/thread/42' };
  hear({ t: 'conversation', conversation: record('r9', made), position: 'p8' });
  expect(views.timeline(key).messages.map(one => `${one.body} ${one.state}`)).toEqual(['First! sent']);
  expect(views.conversation(key)).toMatchObject({ exists: true, room: { page: '/thread/42' } });
  expect(views.conversations('main').keys).toContain(key);
});

test('a message that arrives before its room is known is found in the room', () => {
  hear({ t: 'message', ...message('r3', 1, 'ben', 'welcome'), position: 'p8' });
  hear({ t: 'conversation', conversation: record('r3', { ...BIKERS, name: 'New' }), position: 'p9' });
  expect(views.timeline(room('r3')).messages.map(one => one.body)).toEqual(['welcome']);
  expect(views.timeline(direct('ben')).messages).toEqual([]);
  expect(views.conversations('main').keys).not.toContain(direct('ben'));
});

function hear(event: Event): void {
  replica.apply({ c: 'event', event, now: 0 });
  changed();
}

function changed(): void {
  views.invalidate(replica.takeChanged());
}

function without({ role: _, ...rest }: Room): Room {
  return rest;
}

function message(conversation: string, seq: number, from: string, body: string): Message {
  return { conversation, seq, from, id: `${from}${seq}`, body, time: seq };
}

function posted(seq: number, from: string, body: string): Event {
  return { t: 'message', ...message('r1', seq, from, body), position: `p1.${seq}` };
}

function record(conversation: string, of: Room): Conversation {
  return {
    conversation,
    room: of,
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
  };
}
