// @vitest-environment happy-dom

import { type Rich, room, type ThreadView } from '@kith/client';
import { act } from 'preact/test-utils';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { ThreadUpdates } from './thread_updates.tsx';

beforeAll(() => lateWords.fetch(WORDING));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function drawn(unread: readonly number[], onOpen = () => undefined) {
  const drawing = new Drawing({ rooms: 1 });
  const rich = await drawing.client.rich();
  const threads = async () => unread.map(one => ({ unread: one }) as ThreadView);
  drawing.client.rich = () => Promise.resolve({ ...rich, threads } as Rich);
  drawing.draw(<ThreadUpdates conversation={room('r1')} onOpen={onOpen} />);
  await act(async () => {
    await vi.advanceTimersByTimeAsync(1_000);
  });
  return drawing;
}

test('the button above the room counts unread replies in threads', async () => {
  const opened = vi.fn();
  const drawing = await drawn([2, 1], opened);
  expect(drawing.find('.threads-mark').textContent).toBe('Threads3 new');
  drawing.do(() => drawing.find('.threads-mark').click());
  expect(opened).toHaveBeenCalled();
});

test('nothing is shown without unread replies', async () => {
  expect((await drawn([0, 0])).has('.threads-mark')).toBe(false);
});
