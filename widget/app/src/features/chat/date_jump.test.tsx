// @vitest-environment happy-dom

import { type Ask, direct } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { DateJump, words } from './date_jump.tsx';
import { isoDay, startOfDay } from './day_start.ts';

beforeAll(() => words.fetch(WORDING));

const KEY = direct('u3');

function bar(answer: () => Promise<unknown>) {
  const drawing = new Drawing();
  const asked: unknown[] = [];
  drawing.client.ask = (request => {
    asked.push(request);
    return answer();
  }) as Ask;
  let closed = 0;
  const conversation = drawing.client.conversation(KEY);
  drawing.draw(<DateJump conversation={conversation} onClose={() => closed++} />);
  const choose = (day: string) => {
    const field = drawing.find<HTMLInputElement>('input');
    field.value = day;
    drawing.do(
      () => void drawing.find('form').dispatchEvent(new SubmitEvent('submit', { cancelable: true })),
    );
  };
  return { drawing, asked, choose, closed: () => closed, last: conversation.last?.seq };
}

const page = (...messages: object[]) => ({ t: 'history', re: 1, conversation: 'c1', messages, more: true });

test('a day is requested once, from midnight in local time, and the chat opens at its first message', async () => {
  const { drawing, asked, choose, closed } = bar(() =>
    Promise.resolve(page({ seq: 40, thread: 7 }, { seq: 41 })),
  );
  choose('2026-03-08');
  choose('2026-03-08');
  await vi.waitFor(() => expect(drawing.opened).toEqual([`${KEY} 41`]));
  const since = new Date(2026, 2, 8).getTime();
  expect(asked).toEqual([{ t: 'history', to: { user: 'u3' }, since, limit: 50 }]);
  expect(closed()).toBe(1);
});

test('a day after the last message opens the chat at the last message', async () => {
  const { drawing, choose, last } = bar(() => Promise.resolve(page()));
  choose('2027-01-01');
  await vi.waitFor(() => expect(drawing.opened).toEqual([`${KEY} ${last}`]));
});

test('a failure is announced, and the bar stays open', async () => {
  const { drawing, choose, closed } = bar(() => Promise.reject(new Error('offline')));
  choose('2026-03-08');
  await vi.waitFor(() => expect(drawing.said).toEqual(['Could not load this.']));
  expect([drawing.opened, closed()]).toEqual([[], 0]);
});

test('an invalid day sends no request', () => {
  const { asked, choose } = bar(() => Promise.resolve(page()));
  for (const day of ['', '2026', '12.3.2026', '2026-03-08T10:00']) choose(day);
  expect(asked).toEqual([]);
  expect(startOfDay(isoDay(new Date(2026, 0, 5, 23, 59)))).toBe(new Date(2026, 0, 5).getTime());
});
