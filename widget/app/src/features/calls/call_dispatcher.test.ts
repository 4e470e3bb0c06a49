import type { CallEvent } from '@kith/client';
import type { CallRequest } from '@kith/loader/stage';
import { expect, test, vi } from 'vitest';
import { createCallDispatcher } from './call_dispatcher.ts';

const ring: CallRequest = {
  do: 'hear',
  event: { t: 'call', call: 'c1', news: 'ring', user: 'ana', media: 'audio', sdp: 'o' },
};
const over: CallRequest = {
  do: 'hear',
  event: { t: 'call', call: 'c1', news: 'over', outcome: 'cancelled', ms: 0 } as CallEvent,
};

test('requests from before the part has loaded reach it in order', () => {
  const dispatcher = createCallDispatcher();
  const changed = vi.fn();
  dispatcher.listen(changed);
  dispatcher.say(ring);
  dispatcher.say(over);
  expect([dispatcher.wanted(), changed.mock.calls.length]).toEqual([true, 2]);
  const taken: CallRequest[] = [];
  dispatcher.take(request => taken.push(request));
  dispatcher.say({ do: 'check' });
  expect(taken).toEqual([ring, over, { do: 'check' }]);
});

test('an event for a call of another tab does not load the part', () => {
  const dispatcher = createCallDispatcher();
  dispatcher.say(over);
  expect(dispatcher.wanted()).toBe(false);
});

test('after a failed load, the next call loads the part again', () => {
  const dispatcher = createCallDispatcher();
  dispatcher.say(ring);
  dispatcher.giveUp();
  expect(dispatcher.wanted()).toBe(false);
  dispatcher.say({ do: 'call', user: 'ana', media: 'video' });
  const taken: CallRequest[] = [];
  const leave = dispatcher.take(request => taken.push(request));
  expect(taken).toEqual([{ do: 'call', user: 'ana', media: 'video' }]);
  leave();
  expect(dispatcher.wanted()).toBe(false);
});
