// The call of a room in one tab, against a server that the test simulates step by step.

import { expect, test } from 'vitest';
import { type GroupCallEvent, RequestError, room } from '../src/client.ts';
import { GroupCalls, type RoomCall, type RoomSignal } from '../src/group_calls.ts';
import type { Ask, Unnumbered } from '../src/request.ts';
import { keptRoom } from '../src/stored_group_call.ts';
import type { GroupNews, Participant } from '../src/wire.ts';

const ROOM = room('r1');
const ICE = [{ urls: ['stun:im.example:3478'] }];
const joined = (place: number, ...here: Participant[]): GroupNews => ({
  news: 'joined',
  place,
  media: 'audio',
  since: 1_000,
  most: 6,
  here,
});
const ben = { user: 'ben', place: 7 };
const carla = { user: 'carla', place: 8 };

class Memory {
  kept = new Map<string, string>();
  getItem = (key: string) => this.kept.get(key) ?? null;
  setItem = (key: string, text: string) => void this.kept.set(key, text);
  removeItem = (key: string) => void this.kept.delete(key);
}

function scene(storage = new Memory()) {
  const said: Unnumbered[] = [];
  const signals: RoomSignal[] = [];
  const offered: string[][] = [];
  const listeners = new Set<(event: GroupCallEvent) => void>();
  let answer: GroupNews | RequestError = { news: 'done' };
  const tell = (news: GroupNews, re?: number, conversation = 'r1') => {
    const event = { t: 'group_call', conversation, ice: ICE, ...(re && { re }), ...news } as GroupCallEvent;
    for (const listener of listeners) listener(event);
    return event;
  };
  const client = {
    ask: (async (request: Unnumbered) => {
      said.push(request);
      if (answer instanceof RequestError) throw answer;
      // Every tab gets the answer as an event before the request's promise resolves.
      return tell(answer, 1);
    }) as Ask,
    on: (_: string, listener: (event: never) => void) => {
      listeners.add(listener as (event: GroupCallEvent) => void);
      return () => listeners.delete(listener as (event: GroupCallEvent) => void);
    },
  };
  const calls = new GroupCalls({
    client,
    storage,
    joined: (_, came) => offered.push(came.map(one => one.user)),
    changed: () => undefined,
    signal: signal => signals.push(signal),
  });
  const next = (news: GroupNews | RequestError) => {
    answer = news;
  };
  const now = () => calls.call as RoomCall;
  const here = () => now().here.map(one => one.user);
  return { calls, said, signals, offered, storage, tell, next, now, here, listeners };
}

async function inCall() {
  const one = scene();
  one.next(joined(9, ben));
  await one.calls.join(ROOM, 'r1', 'audio');
  one.next({ news: 'done' });
  return one;
}

test('a participant who joins gets the others, and then joins and leaves', async () => {
  const one = await inCall();
  expect(one.said[0]).toEqual({ t: 'group_call', conversation: 'r1', action: 'join', media: 'audio' });
  expect([one.now().phase, one.now().place, one.offered]).toEqual(['in', 9, [['ben']]]);
  one.tell({ news: 'came', ...carla });
  expect(one.here()).toEqual(['ben', 'carla']);
  one.tell({ news: 'away', place: 7 });
  expect(one.now().here[0]).toEqual({ ...ben, away: true });
  // Ben rejoins, in another place.
  one.tell({ news: 'came', user: 'ben', place: 12 });
  expect(one.now().here).toEqual([carla, { user: 'ben', place: 12 }]);
  one.tell({ news: 'apart', place: 8 });
  expect(one.now().here[0]).toEqual({ ...carla, apart: true });
  one.tell({ news: 'went', place: 8 });
  expect(one.here()).toEqual(['ben']);
  one.tell({ news: 'came', ...carla }, undefined, 'r2');
  expect(one.here(), 'another room').toEqual(['ben']);
});

test('signals have the place of their sender, and arrive only while the tab is in the call', async () => {
  const one = await inCall();
  one.tell({ news: 'offer', from: 8, sdp: 'o' });
  one.tell({ news: 'candidate', from: 8, candidate: 'c' });
  await one.calls.say('answer', 8, 'a');
  await one.calls.candidate(8, '');
  expect(one.signals).toEqual([
    { what: 'offer', from: 8, sdp: 'o' },
    { what: 'candidate', from: 8, candidate: 'c' },
  ]);
  expect(one.said.slice(1)).toEqual([
    { t: 'group_call', conversation: 'r1', action: 'answer', to: 8, sdp: 'a' },
    { t: 'group_call', conversation: 'r1', action: 'candidate', to: 8, candidate: '' },
  ]);
  await one.calls.leave();
  one.tell({ news: 'offer', from: 8, sdp: 'late' });
  expect([one.signals.length, one.now().phase, one.now().end]).toEqual([2, 'out', 'left']);
});

test('after a reload the tab knows the call again, and joins it', async () => {
  const { storage, calls } = await inCall();
  calls.destroy();
  expect(keptRoom(storage)).toEqual({ room: ROOM, id: 'r1', media: 'audio', place: 9 });
  const again = scene(storage);
  expect([again.now().phase, again.now().room]).toEqual(['lost', ROOM]);
  again.next(joined(10, ben, carla));
  await again.calls.join(ROOM, 'r1', 'audio');
  expect([again.now().phase, again.offered]).toEqual(['in', [['ben', 'carla']]]);
  await again.calls.leave();
  expect(keptRoom(storage)).toBeUndefined();
});

test('a stored call of two, or a wrong format, is no call of a room', () => {
  for (const text of ['', '{', 'null', '{"room":5}', '{"room":"#r1","place":1}', '{"id":"c","ticket":"t"}']) {
    const storage = new Memory();
    storage.setItem('kith:call', text);
    expect(keptRoom(storage), text).toBeUndefined();
  }
});

test('the call continues in another tab, or the member is removed', async () => {
  const ends: [GroupNews, number | undefined, RoomCall['end']][] = [
    [{ news: 'elsewhere' }, undefined, 'elsewhere'],
    [{ news: 'left' }, undefined, 'taken_out'],
    // Another tab of this browser has joined.
    [joined(20, ben), 5, 'elsewhere'],
  ];
  for (const [news, re, end] of ends) {
    const one = await inCall();
    one.tell(news, re);
    expect([one.now().phase, one.now().end], end).toEqual(['out', end]);
  }
});

test('a refused join ends the call here; without a connection the tab rejoins later', async () => {
  const one = scene();
  one.next(new RequestError('call_full'));
  await expect(one.calls.join(ROOM, 'r1', 'audio')).rejects.toThrow();
  expect(one.now().phase).toBe('out');
  const lost = await inCall();
  lost.next(new RequestError('offline'));
  await expect(lost.calls.join(ROOM, 'r1', 'audio')).rejects.toThrow();
  expect(lost.now().phase).toBe('lost');
  lost.next(joined(11));
  await lost.calls.join(ROOM, 'r1', 'audio');
  expect([lost.now().phase, lost.here()]).toEqual(['in', []]);
});
