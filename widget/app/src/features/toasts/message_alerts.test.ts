// @vitest-environment happy-dom

import { direct } from '@kith/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeClient } from '../../../dev/fake_client.ts';
import { CHIME_MS, MessageAlerts, SETTLE_MS } from './message_alerts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** `says` simulates a message and then advances the time. */
function scene({ sound = true, onScreen = false } = {}) {
  const client = new FakeClient({ people: 8, chats: 4, now: Date.now() });
  let chimes = 0;
  const chime = () => {
    chimes += 1;
  };
  const notices = new MessageAlerts({ client, chime, soundIsOn: () => sound, onScreen: () => onScreen });
  client.on('message', detail => notices.hear(detail));
  const says = (user: string, text: string, wait = SETTLE_MS) => {
    client.arrive(user, text);
    vi.advanceTimersByTime(wait);
  };
  return { client, notices, says, chimes: () => chimes };
}

test('a message plays a sound and shows a toast', () => {
  const { notices, says, chimes } = scene();
  says('u2', 'hello');
  expect(chimes()).toBe(1);
  expect(notices.toast()).toMatchObject({ key: direct('u2'), count: 1, message: { body: 'hello' } });
});

test('a flood plays one sound per CHIME_MS, and its toast shows the newest message', () => {
  const { notices, says, chimes } = scene();
  for (let i = 1; i <= 5; i++) says('u2', `flood ${i}`, 100);
  vi.advanceTimersByTime(SETTLE_MS);
  expect(chimes()).toBe(1);
  expect(notices.toast()).toMatchObject({ count: 5, message: { body: 'flood 5' } });
  says('u3', 'me too');
  expect(notices.toast()).toMatchObject({ key: direct('u3'), count: 1 });
  vi.advanceTimersByTime(CHIME_MS);
  says('u3', 'and again');
  expect(chimes()).toBe(2);
});

test('a message that is read at once causes no notice', () => {
  const { client, notices, says, chimes } = scene();
  says('u2', 'hello', 100);
  client.seen(direct('u2'), 1_000);
  vi.advanceTimersByTime(SETTLE_MS);
  expect([chimes(), notices.toast()]).toEqual([0, undefined]);
});

test('reading a message later removes its toast', () => {
  const { client, notices, says } = scene();
  says('u2', 'hello');
  client.seen(direct('u2'), 1_000);
  expect(notices.toast()).toBeUndefined();
});

test('muted chats and the presence "busy" cause no notice', () => {
  const { client, notices, says, chimes } = scene();
  void client.changeConversation(direct('u2'), { mutedUntil: Date.now() + 60_000 });
  says('u2', 'hello');
  client.setPresence('busy');
  says('u3', 'hello');
  expect([chimes(), notices.toast()]).toEqual([0, undefined]);
});

test('with the sound off there is only a toast, and for a chat on the screen only a sound', () => {
  const silent = scene({ sound: false });
  silent.says('u2', 'hello');
  expect([silent.chimes(), silent.notices.toast()?.count]).toEqual([0, 1]);
  const open = scene({ onScreen: true });
  open.says('u2', 'hello');
  expect([open.chimes(), open.notices.toast()]).toEqual([1, undefined]);
});
