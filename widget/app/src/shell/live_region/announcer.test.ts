import { expect, test } from 'vitest';
import { fetchWording } from '../../wording/wording.ts';
import { Announcer, QUIET } from './announcer.ts';

const words = await fetchWording(['en']);
const ana = (text: string) => ({ chat: '@ana', name: 'Ana', text });
const tom = (text: string) => ({ chat: '@tom', name: 'Tom', text });

test('a single message is announced at once', () => {
  expect(new Announcer(words).hear(ana('hi'), 1_000)).toEqual({ say: '\u2068Ana\u2069: hi' });
});

test('a flood from one chat becomes one announcement', () => {
  const announcer = new Announcer(words);
  announcer.hear(ana('1'), 0);
  for (const text of ['2', '3', '4']) expect(announcer.hear(ana(text), 100)).toEqual({ dueAt: QUIET });
  expect(announcer.due(200)).toBeUndefined();
  expect(announcer.due(QUIET)).toBe('3 new messages from \u2068Ana\u2069');
  expect(announcer.due(QUIET + 1)).toBeUndefined();
});

test('the announcement of a flood from several chats names no chat', () => {
  const announcer = new Announcer(words);
  announcer.hear(ana('1'), 0);
  announcer.hear(ana('2'), 1);
  announcer.hear(tom('3'), 2);
  expect(announcer.due(QUIET)).toBe('2 new messages');
});

test('after QUIET a message is announced at once again', () => {
  const announcer = new Announcer(words);
  announcer.hear(ana('1'), 0);
  expect(announcer.hear(ana('2'), QUIET)).toEqual({ say: '\u2068Ana\u2069: 2' });
});

test('the announcement of a very long message is cut', () => {
  const said = new Announcer(words).hear(ana('x'.repeat(5_000)), 0);
  expect('say' in said && said.say.length).toBeLessThan(200);
});
