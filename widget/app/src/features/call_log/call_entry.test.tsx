// @vitest-environment happy-dom

import { type CallEntry, direct, type Message, room } from '@kith/client';
import { beforeAll, expect, test } from 'vitest';
import { Drawing, NOW, WORDING } from '../../../test/draw.ts';
import { gistOf } from '../message_text/plain_text.ts';
import { duration } from './call_duration.ts';
import { Entry } from './call_entry.tsx';
import { isMissed, words } from './call_text.ts';

beforeAll(() => words.fetch(WORDING));

const message = (call: CallEntry, mine: boolean): Message => ({
  id: 'call:1',
  seq: 1,
  from: mine ? 'me' : 'u2',
  mine,
  body: 'Audio call, missed',
  time: NOW,
  state: 'received',
  call,
});
const drawn = (call: CallEntry, mine: boolean, to = direct('u2')) =>
  new Drawing().draw(<Entry message={message(call, mine)} to={to} />);

test('the entry shows the outcome of the call to the caller and to the callee', () => {
  const line = (outcome: CallEntry['outcome'], mine: boolean) =>
    drawn({ media: 'audio', outcome, ms: 65_000 }, mine).find('.call-entry-text').textContent;
  expect([line('ended', true), line('ended', false)]).toEqual(['Audio call, 1:05', 'Audio call, 1:05']);
  expect([line('missed', true), line('missed', false)]).toEqual([
    'Audio call: no answer',
    'Missed audio call',
  ]);
  expect([line('cancelled', true), line('cancelled', false)]).toEqual([
    'Audio call: no answer',
    'Missed audio call',
  ]);
  expect([line('declined', true), line('declined', false)]).toEqual([
    'Audio call: declined',
    'Audio call: you declined',
  ]);
  expect([line('busy', true), line('busy', false)]).toEqual(['Audio call: busy', 'Missed audio call']);
});

test('the button of a missed call calls back with the same media', () => {
  const drawing = drawn({ media: 'video', outcome: 'missed', ms: 0 }, false);
  expect(drawing.has('.call-missed')).toBe(true);
  drawing.do(() => drawing.button('Call back').click());
  expect(drawing.calls).toEqual([{ do: 'call', user: 'u2', media: 'video' }]);
  expect(drawn({ media: 'video', outcome: 'ended', ms: 1 }, true).button('Call again')).toBeDefined();
});

test('the button of an entry in a room joins a call of the room', () => {
  const drawing = drawn({ media: 'audio', outcome: 'ended', ms: 5_000 }, false, room('r1'));
  drawing.do(() => drawing.button('Call again').click());
  expect(drawing.calls).toEqual([{ do: 'join', room: room('r1'), media: 'audio' }]);
});

test('message previews describe a missed call', () => {
  const missed = message({ media: 'video', outcome: 'missed', ms: 0 }, false);
  expect([gistOf(missed, WORDING), isMissed(missed)]).toEqual(['Missed video call', true]);
  expect(isMissed({ ...missed, mine: true })).toBe(false);
});

test('durations are formatted like a clock', () => {
  expect([0, 5_400, 65_000, 3_723_000, -1].map(duration)).toEqual([
    '0:00',
    '0:05',
    '1:05',
    '1:02:03',
    '0:00',
  ]);
});
