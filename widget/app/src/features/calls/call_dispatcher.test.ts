import type { CallEvent } from '@kith/client';
import { expect, test, vi } from 'vitest';
import { type CallDeed, createLine } from './call_dispatcher.ts';

const ring: CallDeed = {
  do: 'hear',
  event: { t: 'call', call: 'c1', news: 'ring', user: 'ana', media: 'audio', sdp: 'o' },
};
const over: CallDeed = {
  do: 'hear',
  event: { t: 'call', call: 'c1', news: 'over', outcome: 'cancelled', ms: 0 } as CallEvent,
};

test('what is said before the part has come reaches it, in its order', () => {
  const line = createLine();
  const changed = vi.fn();
  line.listen(changed);
  line.say(ring);
  line.say(over);
  expect([line.wanted(), changed.mock.calls.length]).toEqual([true, 2]);
  const taken: CallDeed[] = [];
  line.take(deed => taken.push(deed));
  line.say({ do: 'check' });
  expect(taken).toEqual([ring, over, { do: 'check' }]);
});

test('a call of another tab needs nobody here', () => {
  const line = createLine();
  line.say(over);
  expect(line.wanted()).toBe(false);
});

test('where the part could not be fetched, the next call fetches it again', () => {
  const line = createLine();
  line.say(ring);
  line.giveUp();
  expect(line.wanted()).toBe(false);
  line.say({ do: 'call', user: 'ana', media: 'video' });
  const taken: CallDeed[] = [];
  const leave = line.take(deed => taken.push(deed));
  expect(taken).toEqual([{ do: 'call', user: 'ana', media: 'video' }]);
  leave();
  expect(line.wanted()).toBe(false);
});
