// Messages that change after they were posted, in a replica.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { direct } from './client.ts';
import { find } from './message_range.ts';
import { Replica } from './replica.ts';
import type { Command, Event, Message } from './wire.ts';

const vectors: { name: string; json: Event }[] = JSON.parse(
  readFileSync(new URL('../../../crates/web-proto/vectors/events.json', import.meta.url), 'utf8'),
);
const vector = (name: string) => vectors.find(one => one.name === name)?.json as Event;

function welcomed() {
  const replica = new Replica();
  const say = (event: Event) => replica.apply({ c: 'event', event, now: 0 });
  say(vector('welcome'));
  const known = () => replica.known(direct('ben'));
  return { replica, say, known, eight: () => find(known().stretches, 8) as Message };
}

test('the greater version wins, in whatever order they arrive', () => {
  const { say, eight, known } = welcomed();
  expect(eight()).toMatchObject({ body: 'Hello, Anna!' });
  say(vector('update deleted'));
  expect(eight()).toMatchObject({ body: '', deleted: true, version: 51 });
  const deleted = eight();
  say(vector('update edited')); // version 50, late
  say({ t: 'history', re: 1, conversation: 'c_7Jw2pQ', messages: [], more: false });
  expect(eight()).toBe(deleted);
  expect(known().stretches.flatMap(one => one.messages)).toHaveLength(1);
});

test('a change by another user does not change my reactions', () => {
  const { say, eight } = welcomed();
  say(vector('update answered'));
  expect(eight().reactions?.[0]).toMatchObject({ reaction: '👍', mine: true });
  const message = { ...eight(), version: 54, reactions: [{ reaction: '👍', count: 30, users: ['carla'] }] };
  say({ t: 'update', message, by: 'carla', position: 'p1.54' });
  expect(eight().reactions).toEqual([{ reaction: '👍', count: 30, users: ['carla'], mine: true }]);
  const off = { ...message, version: 55, reactions: [{ reaction: '👍', count: 29, users: ['carla'] }] };
  say({ t: 'update', message: off, by: 'anna', position: 'p1.55' });
  expect(eight().reactions).toEqual([{ reaction: '👍', count: 29, users: ['carla'] }]);
});

test('a mention that is edited in or out is counted', () => {
  const { say, eight, known } = welcomed();
  const edit = (body: string, version: number) =>
    say({ t: 'update', message: { ...eight(), body, version, edited: 1 }, by: 'ben', position: 'p1.60' });
  expect([known().unread, known().mentions]).toEqual([1, 0]);
  edit('Hello, @anna!', 60);
  expect([known().unread, known().mentions]).toEqual([1, 1]);
  edit('Hello!', 61);
  expect([known().unread, known().mentions]).toEqual([1, 0]);
});

test('a gap with `forget` drops the earlier messages', () => {
  const { say, known, replica } = welcomed();
  const changes = vector('changes with updates') as Event & { t: 'changes' };
  say(changes);
  expect(find(known().stretches, 8)).toMatchObject({ deleted: true });
  say({ ...changes, gaps: [{ conversation: 'c_7Jw2pQ', first: 9, forget: true }], updates: [] });
  expect(known().stretches).toEqual([]);
  expect(replica.position).toBe('p1.54');
});

test('counts keep the rest of the message, and the own reaction', () => {
  const { say, eight } = welcomed();
  say(vector('update answered'));
  const { body, edited } = eight();
  say(vector('counts of a reaction'));
  expect(eight()).toMatchObject({ body, edited, version: 54 });
  expect(eight().reactions).toEqual([
    { reaction: '👍', count: 3, users: ['anna', 'carla'], mine: true },
    { reaction: ':party:', count: 1, users: ['ben'] },
  ]);
  say(vector('counts answered'));
  expect(eight().reactions?.[0]).toEqual({ reaction: '👍', count: 2, users: ['carla'] });
  say(vector('counts of a reaction')); // version 54, late
  expect(eight().version).toBe(55);
});

test('counts that arrive before the page of history with their message are not lost', () => {
  const { say, eight, replica } = welcomed();
  const message = { ...eight(), seq: 3, id: 'b-3' };
  const three = () => find(replica.known(direct('ben')).stretches, 3);
  say({ ...(vector('counts of a reaction') as Event & { t: 'counts' }), seq: 3 });
  const event: Event = { t: 'history', re: 1, conversation: 'c_7Jw2pQ', messages: [message], more: true };
  const request: Command = { t: 'history', rid: 1, to: { conversation: 'c_7Jw2pQ' }, before: 4 };
  replica.apply({ c: 'event', event, request, now: 0 });
  expect(three()).toMatchObject({ version: 54, reactions: [{ reaction: '👍', count: 3 }, { count: 1 }] });
});

test('an erased user has another id in all messages, and theirs are deleted', () => {
  const { replica, say, eight } = welcomed();
  say(vector('update reacted'));
  const kept = { ...(vector('renamed') as Event & { t: 'renamed' }) };
  say({ ...kept, renamed: { was: 'carla', user: 'deleted-1', name: 'Deleted user' } });
  expect(eight()).toMatchObject({ from: 'ben', body: 'Hello, Anna!' });
  expect(eight().reactions?.[0]?.users).toEqual(['anna', 'deleted-1']);
  say(vector('renamed'));
  expect(eight()).toMatchObject({ seq: 8, from: 'deleted-k3v9', body: '', deleted: true });
  expect(eight().reactions).toBeUndefined();
  expect(replica.people.byUser.get('ben')).toBeUndefined();
  expect(replica.people.byUser.get('deleted-k3v9')?.name).toBe('Deleted user');
  expect(replica.position).toBe('p1.60');
});

test('a device that reconnects applies new ids of users before everything else', () => {
  const { say, eight } = welcomed();
  const { renamed } = vector('renamed') as Event & { t: 'renamed' };
  const nothing = { conversations: [], messages: [], gaps: [], contacts: [] };
  say({ t: 'changes', re: 1, reset: false, ...nothing, renamed: [renamed], position: 'p1.99' });
  expect(eight()).toMatchObject({ from: 'deleted-k3v9', deleted: true });
});
