import type { Client, Conversation, ConversationKey, Me } from '@kith/client';
import { expect, test } from 'vitest';
import { isWorthANotice, noticeOf } from './local_notifications.ts';

const NOW = new Date('2026-11-21T12:00:00');
const TOM = '@tom' as unknown as ConversationKey;
const ROOM = { members: 3 } as Conversation['room'];

function clientWith(conversation: Partial<Conversation>, presence: Me['presence'] = 'online') {
  const whole = { unread: 2, mentions: 0, mutedUntil: 0, with: { name: 'Tom' }, ...conversation };
  return {
    conversation: () => whole as Conversation,
    me: () => ({ presence }) as Me,
    person: (user: string) => ({ name: `${user}!` }),
  } as unknown as Client;
}

test('the rules are those of the server', () => {
  const worth = (conversation: Partial<Conversation>, presence?: Me['presence']) =>
    isWorthANotice(clientWith(conversation, presence), TOM, NOW.getTime());
  expect(worth({})).toBe(true);
  expect(worth({}, 'busy')).toBe(false);
  expect(worth({ unread: 0 })).toBe(false);
  expect(worth({ mutedUntil: NOW.getTime() + 1 })).toBe(false);
  expect(worth({ archived: true })).toBe(false);
  expect(worth({ request: 'asked' as NonNullable<Conversation['request']> })).toBe(false);
  const large = { members: 21 } as NonNullable<Conversation['room']>;
  expect([worth({ room: ROOM as typeof large }), worth({ room: large })]).toEqual([true, false]);
  expect(worth({ room: large, mentions: 1 })).toBe(true);
});

test('the text is shown if the member wants it, and nothing in quiet hours', () => {
  const last = { from: 'ana', body: 'Hello', time: 5 } as Conversation['last'];
  const said = (settings: Parameters<typeof noticeOf>[2], room = false) =>
    noticeOf(clientWith({ last, ...(room && { room: ROOM }) } as Partial<Conversation>), TOM, settings, NOW);
  expect(said({ bodies: true })).toEqual({ kith: '@tom', title: 'Tom', count: 2, body: 'Hello', time: 5 });
  expect(said({ bodies: true }, true)?.body).toBe('ana!: Hello');
  expect(said({ bodies: false })?.body).toBeUndefined();
  expect(said({ bodies: true, quiet: { from: 700, to: 800 } as never })).toBeUndefined();
});
