// Values to draw: a value stays the same object until it changes, and topics report changes.

import { beforeEach, expect, test } from 'vitest';
import { direct, pageRoom, type Topic } from './client.ts';
import { Replica } from './replica.ts';
import { Views } from './views.ts';
import type { Contact, Conversation, Event, Message } from './wire.ts';

let replica: Replica;
let views: Views;
const NOW = 1_000_000;

beforeEach(() => {
  replica = new Replica();
  views = new Views(
    replica,
    (a, b) => (a < b ? -1 : 1),
    () => NOW,
  );
  hear(welcome([talk('ben', 3), talk('cem', 2), talk('dan', 1)]));
  replica.apply({ c: 'status', status: { state: 'online', shared: false } });
  changed();
});

test('a message changes its own conversation and the order, nothing else', () => {
  const before = { ben: views.conversation(direct('ben')), cem: views.conversation(direct('cem')) };
  const line = views.timeline(direct('ben'));
  const topics = hear({ t: 'message', ...message('cem', 3), position: 'p2' });
  expect([...topics].filter(one => one.includes('@ben'))).toEqual([]);
  expect(views.conversation(direct('ben'))).toBe(before.ben);
  expect(views.timeline(direct('ben'))).toBe(line);
  expect(views.conversation(direct('cem'))).not.toBe(before.cem);
  expect(views.conversations('main').keys).toEqual(['@cem', '@ben', '@dan']);
  expect(views.totals()).toEqual({ unread: 1, mentions: 0, conversations: 1, requests: 0, strangers: 0 });
});

test('a change that keeps the order keeps the list object', () => {
  const list = views.conversations('main');
  hear(marker('ben', 'ben', 3, 3));
  expect(views.conversations('main')).toBe(list);
});

test('a marker of the other user changes only its messages', () => {
  hear({
    t: 'history',
    re: 1,
    conversation: 'c_ben',
    messages: [1, 2].map(seq => mine('ben', seq)),
    more: false,
  });
  replica.apply({
    c: 'event',
    event: {
      t: 'history',
      re: 1,
      conversation: 'c_ben',
      messages: [1, 2, 3].map(seq => mine('ben', seq)),
      more: false,
    },
    request: { t: 'history', rid: 1, to: { user: 'ben' } },
    now: NOW,
  });
  changed();
  const [one, two] = views.timeline(direct('ben')).messages;
  hear(marker('ben', 'ben', 1, 1));
  const after = views.timeline(direct('ben')).messages;
  expect(after.map(it => it.state).slice(0, 2)).toEqual(['read', 'sent']);
  expect(after[0]).not.toBe(one);
  expect(after[1]).toBe(two);
});

test('pinned chats are first, archived ones have their own list, muted ones are not counted', () => {
  hear({ t: 'conversation', conversation: { ...talk('dan', 1), pinned: true }, position: 'p2' });
  hear({ t: 'conversation', conversation: { ...talk('ben', 3), archived: true }, position: 'p3' });
  hear({
    t: 'conversation',
    conversation: { ...talk('cem', 2), unread: 4, muted_until: NOW + 1 },
    position: 'p4',
  });
  expect(views.conversations('main').keys).toEqual(['@dan', '@cem']);
  expect(views.conversations('archived').keys).toEqual(['@ben']);
  expect(views.totals()).toMatchObject({ unread: 0, conversations: 0 });
  hear({
    t: 'conversation',
    conversation: { ...talk('cem', 2), unread: 4, muted_until: NOW - 1 },
    position: 'p5',
  });
  expect(views.totals()).toMatchObject({ unread: 4, conversations: 1 });
});

test('a new name reaches the person, the conversation and the contacts', () => {
  const contact = { user: 'ben', name: 'Ben', state: 'contact' as const };
  hear({ t: 'contact', contact, position: 'p2' });
  const topics = hear({ t: 'profiles', re: 1, people: [{ user: 'ben', name: 'Benjamin' }] });
  expect(topics).toContain('person:ben');
  expect(topics).toContain('contacts');
  expect(views.person('ben').name).toBe('Benjamin');
  expect(views.conversation(direct('ben')).with.name).toBe('Benjamin');
  expect(views.contacts().contacts[0]?.name).toBe('Benjamin');
});

test('contacts are sorted by name; requests are counted; the state none removes a contact', () => {
  for (const [user, state] of [
    ['zoe', 'contact'],
    ['abe', 'request_received'],
    ['kim', 'blocked'],
  ] as const) {
    hear({ t: 'contact', contact: { user, name: user.toUpperCase(), state }, position: 'p2' });
  }
  expect(views.contacts().contacts.map(one => one.user)).toEqual(['abe', 'kim', 'zoe']);
  expect(views.totals().requests).toBe(1);
  hear({ t: 'contact', contact: { user: 'abe', name: 'ABE', state: 'none' }, position: 'p3' });
  expect(views.contacts().contacts.map(one => one.user)).toEqual(['kim', 'zoe']);
  expect(views.totals().requests).toBe(0);
});

test('thousands of contacts that come page by page are in order, and stay the same objects', () => {
  const names = Array.from({ length: 2_000 }, (_, at) => String((at * 7919) % 2_000).padStart(4, '0'));
  for (let page = 0; page < names.length; page += 100) {
    const contacts = names
      .slice(page, page + 100)
      .map(name => ({ user: `u${name}`, name, state: 'contact' as const }));
    replica.apply({
      c: 'event',
      event: { t: 'contacts', re: 1, contacts },
      request: { t: 'contacts', rid: 1 },
      now: NOW,
    });
    changed();
    const shown = views.contacts().contacts.map(one => one.name);
    expect(shown).toEqual(names.slice(0, page + 100).sort());
  }
  const before = views.contacts().contacts;
  hear({ t: 'contact', contact: { user: 'u0500', name: '1500b', state: 'contact' }, position: 'p2' });
  const after = views.contacts().contacts;
  expect(after.map(one => one.name)).toEqual([...names.filter(one => one !== '0500'), '1500b'].sort());
  expect(after.filter(one => !before.includes(one)).map(one => one.user)).toEqual(['u0500']);
});

test('a mention is one only where the name ends', () => {
  for (const [seq, body] of [
    [4, 'hi @ana!'],
    [5, '@anabel'],
    [6, '@ana_b and @ana-c'],
    [7, 'mail ana@ana.example @ana'],
  ] as const) {
    hear({ t: 'message', ...message('ben', seq), body, position: `p${seq}` });
  }
  expect(views.totals()).toMatchObject({ unread: 4, mentions: 2 });
});

test('a listener that throws, or unsubscribes while it is called, does not affect the others', () => {
  const heard: string[] = [];
  const error = console.error;
  console.error = () => undefined;
  const leave = views.subscribe('totals', () => {
    leave();
    throw new Error('of a component');
  });
  views.subscribe('totals', () => heard.push('second'));
  views.notify(['totals']);
  views.notify(['totals']);
  console.error = error;
  expect(heard).toEqual(['second', 'second']);
});

function hear(event: Event): Set<Topic> {
  replica.apply({ c: 'event', event, now: NOW });
  return changed();
}

function changed(): Set<Topic> {
  const topics = replica.takeChanged();
  views.invalidate(topics);
  return topics;
}

function message(from: string, seq: number): Message {
  return { conversation: `c_${from}`, seq, from, id: `${from}${seq}`, body: 'x', time: NOW + seq };
}

function mine(other: string, seq: number): Message {
  return { ...message(other, seq), from: 'ana', id: `ana${seq}` };
}

function marker(other: string, user: string, received: number, read: number): Event {
  return { t: 'marker', conversation: `c_${other}`, user, received, read, position: 'p9' };
}

/** A conversation without unread messages. A higher `seq` of the last message means a later activity. */
function talk(user: string, seq: number): Conversation {
  return {
    conversation: `c_${user}`,
    with: { user, name: user.toUpperCase() },
    last: { ...message(user, seq), time: NOW - 100 + seq },
    received: seq,
    read: seq,
    their_received: 0,
    their_read: 0,
    unread: 0,
    mentions: 0,
    muted_until: 0,
    pinned: false,
    archived: false,
    active: NOW - 100 + seq,
  };
}

function welcome(conversations: Conversation[]): Event {
  return {
    t: 'welcome',
    session: 's',
    me: { user: 'ana', name: 'Ana' },
    presence: 'online',
    open: true,
    limits: {
      body_bytes: 100,
      frame_bytes: 100,
      page: 100,
      watch: 100,
      idle_ms: 75_000,
      heartbeat_ms: 10_000,
    },
    time: NOW,
    expires: NOW + 1,
    resumed: false,
    conversations,
    messages: [],
    gaps: [],
    contacts: [],
    position: 'p1',
  };
}

test('the page sets the name of its room, and an inherited property is no name', () => {
  const named = new Views(
    replica,
    () => 0,
    () => NOW,
    { '/thread/42': 'Slugs in the lettuce' },
  );
  const name = (page: string) => named.conversation(pageRoom(page)).with.name;
  expect(['/thread/42', '/thread/43', 'constructor'].map(name)).toEqual([
    'Slugs in the lettuce',
    '/thread/43',
    'constructor',
  ]);
});

test('a chat whose other user has a new id is found by the old id', () => {
  const { conversation } = talk('ben', 1);
  hear({ t: 'conversation', conversation: talk('ben', 1), position: 'p2' });
  replica.apply({ c: 'action', action: { a: 'draft', key: direct('ben'), text: 'half a sent' }, now: NOW });
  const topics = hear({
    t: 'conversation',
    conversation: {
      ...talk('deleted-x', 1),
      conversation,
      with: { user: 'deleted-x', name: 'Deleted user' },
    },
    position: 'p3',
  });
  expect(topics).toContain('conversation:@ben');
  expect(views.conversation(direct('ben')).key).toBe('@deleted-x');
  expect(views.conversation(direct('deleted-x'))).toMatchObject({
    exists: true,
    with: { name: 'Deleted user' },
  });
  expect([views.draft(direct('ben')), views.draft(direct('deleted-x'))]).toEqual(['', 'half a sent']);
});

test('a message of a blocked member emits no event, and one after the block does', () => {
  const contact = (state: 'blocked' | 'none') =>
    hear({ t: 'contact', contact: { user: 'ben', name: 'ben', state }, position: 'p1' });
  const heard = (seq: number) => {
    hear({ t: 'message', ...message('ben', seq), position: `p${seq}` });
    return replica.takeHappened().filter(([what]) => what === 'message').length;
  };
  replica.takeHappened();
  contact('blocked');
  expect(heard(4)).toBe(0);
  contact('none');
  expect(heard(5)).toBe(1);
});

test('the own name of a contact is shown, and the display name stays known', () => {
  const hears = (contact: Partial<Contact>) =>
    hear({
      t: 'contact',
      contact: { user: 'ben', name: 'Ben', state: 'contact', ...contact },
      position: 'p1',
    });
  const names = () => [views.person('ben').name, views.person('ben').displayName];
  hears({ own_name: 'Benny' });
  expect(names()).toEqual(['Benny', 'Ben']);
  expect(views.contacts().contacts).toMatchObject([{ name: 'Benny', displayName: 'Ben', state: 'contact' }]);
  // Later records of the person have the display name alone.
  hear({ t: 'person', person: { user: 'ben', name: 'Benjamin' } });
  expect(names()).toEqual(['Benny', 'Benjamin']);
  expect(views.conversation(direct('ben')).with.name).toBe('Benny');
  hears({ name: 'Benjamin' });
  expect(names()).toEqual(['Benjamin', undefined]);
  // An entry that only the apps of the user show is no contact.
  hears({ own_name: 'Benny' });
  hears({ own_name: 'Benny', state: 'none' });
  expect(names()).toEqual(['Ben', undefined]);
});

test('an own name that ended during an absence is not shown after it', () => {
  hear({
    t: 'contact',
    contact: { user: 'ben', name: 'Ben', state: 'contact', own_name: 'Benny' },
    position: 'p1',
  });
  const copy = new Replica();
  copy.restore(replica.snapshot());
  expect(copy.people.byUser.get('ben')).toMatchObject({ name: 'Benny', displayName: 'Ben' });
  hear({
    t: 'changes',
    re: 1,
    reset: true,
    conversations: [],
    messages: [],
    gaps: [],
    contacts: [],
    position: 'p9',
  });
  expect(views.person('ben').name).toBe('Ben');
});
