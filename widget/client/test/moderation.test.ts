// Moderation in a replica: requests of strangers cause no sound, and a moderator's notices are kept while valid.

import { beforeEach, expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import { Replica } from '../src/replica.ts';
import { Views } from '../src/views.ts';
import type { Conversation, Event, Message, RequestState } from '../src/wire.ts';

const BEN = direct('ben');
let replica: Replica;
let views: Views;

beforeEach(() => {
  replica = new Replica();
  views = new Views(
    replica,
    (a, b) => (a < b ? -1 : 1),
    () => 0,
  );
  welcome([]);
});

test('a request has its own list, and emits no event', () => {
  hear({ t: 'conversation', conversation: record('received'), position: 'p2' });
  hear({ t: 'message', ...said(1, 'ben'), position: 'p3' });
  expect(replica.takeHappened().filter(([name]) => name === 'message')).toEqual([]);
  expect(lists()).toEqual({ main: [], requests: [BEN], archived: [] });
  expect(views.totals()).toMatchObject({ unread: 0, conversations: 0, strangers: 1 });
  hear({ t: 'conversation', conversation: { ...record('received'), archived: true }, position: 'p4' });
  expect(lists()).toEqual({ main: [], requests: [], archived: [BEN] });
  expect(views.totals().strangers).toBe(0);
});

test('an answer accepts a request', () => {
  hear({ t: 'conversation', conversation: record('received'), position: 'p2' });
  hear({ t: 'message', ...said(1, 'ben'), position: 'p3' });
  hear({ t: 'message', ...said(2, 'ana'), position: 'p4' });
  expect(views.conversation(BEN).request).toBeUndefined();
  expect(lists()).toEqual({ main: [BEN], requests: [], archived: [] });
});

test('a sent request is known until an answer arrives, or until the users are contacts', () => {
  hear({ t: 'conversation', conversation: record('sent'), position: 'p2' });
  expect(views.conversation(BEN).request).toBe('sent');
  expect(lists().main).toEqual([BEN]);
  hear({ t: 'message', ...said(1, 'ben'), position: 'p3' });
  expect(views.conversation(BEN).request).toBeUndefined();
  hear({ t: 'conversation', conversation: record('sent'), position: 'p4' });
  hear({ t: 'contact', contact: { user: 'ben', name: 'Ben', state: 'contact' }, position: 'p5' });
  expect(views.conversation(BEN).request).toBeUndefined();
});

test('a mute is shown until it ends, a warning until it was seen, and each welcome replaces both', () => {
  hear({ t: 'notice', notice: { kind: 'mute', until: 9, reason: 'Insults' } });
  hear({ t: 'notice', notice: { kind: 'mute', until: 20, reason: 'Again' } });
  hear({ t: 'notice', notice: { kind: 'warning', reason: 'Careful' } });
  hear({ t: 'notice', notice: { kind: 'mute', conversation: 'r1', reason: 'of a room' } });
  expect(replica.notices.map(one => one.reason)).toEqual(['Again', 'Careful', 'of a room']);
  hear({ t: 'notice', notice: { kind: 'unmute', conversation: 'r1', reason: '' } });
  expect(replica.notices.map(one => one.reason)).toEqual(['Again', 'Careful']);
  hear({ t: 'notice', notice: { kind: 'unmute', reason: '' } });
  expect(replica.notices.map(one => one.reason)).toEqual(['Careful']);
  hear({ t: 'notices', re: 1, notices: [] });
  expect(replica.notices).toEqual([]);
  hear({ t: 'notice', notice: { kind: 'warning', reason: 'Careful' } });
  welcome([]);
  expect(replica.notices).toEqual([]);
});

test('a moderator gets reports', () => {
  const report = { report: 7, state: 'open', by: 'ben', reason: 'spam', time: 1 } as const;
  hear({ t: 'report', report });
  expect(replica.takeHappened()).toContainEqual(['report', report]);
});

function lists() {
  const of = (list: 'main' | 'requests' | 'archived') => [...views.conversations(list).keys];
  return { main: of('main'), requests: of('requests'), archived: of('archived') };
}

function welcome(conversations: Conversation[]) {
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
    conversations,
    messages: [],
    gaps: [],
    contacts: [],
    position: 'p1',
  });
}

function hear(event: Event) {
  replica.apply({ c: 'event', event, now: 0 });
  views.invalidate(replica.takeChanged());
}

function said(seq: number, from: string): Message {
  return { conversation: 'c1', seq, from, id: `m${seq}`, time: seq, body: 'hi' };
}

function record(request: RequestState): Conversation {
  return {
    conversation: 'c1',
    with: { user: 'ben', name: 'Ben' },
    request,
    read: 0,
    received: 0,
    their_read: 0,
    their_received: 0,
    unread: 1,
    mentions: 0,
    muted_until: 0,
    pinned: false,
    archived: false,
    active: 1,
  };
}
