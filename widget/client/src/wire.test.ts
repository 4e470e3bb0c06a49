// The frames of crates/web-proto/vectors, read as this client reads them and written as it writes them.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readEvent, readEvents } from './frame.ts';
import { Replica } from './replica.ts';
import { CLOSE_CODE, COMES_BACK, type Event, HTTP_STATUS } from './wire.ts';

interface Vector {
  name: string;
  json: Event;
}

const vectors = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../../../crates/web-proto/vectors/${name}.json`, import.meta.url), 'utf8'),
  );
const events = vectors('events') as Vector[];

test.each(events.map(one => [one.name, one.json] as const))('event: %s', (_, json) => {
  expect(readEvent(JSON.stringify(json))).toEqual(json);
  const replica = new Replica();
  // No event of a server throws in a replica, whether it fits the replica's state or not.
  replica.apply({ c: 'event', event: json, now: 0 });
  for (const { json: first } of events.filter(one => one.json.t === 'welcome')) {
    const welcomed = new Replica();
    welcomed.apply({ c: 'event', event: first, now: 0 });
    welcomed.apply({ c: 'event', event: json, now: 1 });
    if ('position' in json) expect(welcomed.position).toBe(json.position);
  }
});

test('an array of events, as a poll answers', () => {
  const all = events.map(one => one.json);
  expect(readEvents(JSON.stringify(all))).toEqual(all);
});

test('values that are no events are dropped', () => {
  for (const text of ['', 'null', '[]', '{}', '{"t":1}', '"ping"', '{"t":"x"'])
    expect(readEvent(text)).toBeUndefined();
  expect(readEvents('[1,{"t":"pong"},null]')).toEqual([{ t: 'pong' }]);
  expect(readEvents('<html>')).toBeUndefined();
});

test('every code has an action and its numbers', () => {
  expect(Object.keys(HTTP_STATUS)).toEqual(Object.keys(COMES_BACK));
  expect(new Set(Object.values(CLOSE_CODE)).size).toBe(Object.keys(COMES_BACK).length);
});
