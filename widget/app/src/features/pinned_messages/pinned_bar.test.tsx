// @vitest-environment happy-dom

import { direct } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { PinnedBar } from './pinned_bar.tsx';

beforeAll(() => lateWords.fetch(WORDING));

const KEY = direct('u3');

test('the bar shows pinned messages one after the other, and updates after pins and unpins', async () => {
  const drawing = new Drawing();
  const jumps: number[] = [];
  await drawing.client.pin(KEY, 2, true);
  drawing.draw(<PinnedBar conversation={KEY} onJump={seq => jumps.push(seq)} />);
  const title = () => drawing.find('.pin-title').textContent;
  await vi.waitFor(() => expect(title()).toBe('Pinned message'));
  drawing.do(() => void drawing.client.pin(KEY, 5, true));
  expect(title()).toBe('Pinned message 1 of 2');
  drawing.do(() => drawing.find('.pin-bar').click());
  expect(title()).toBe('Pinned message 2 of 2');
  drawing.do(() => drawing.find('.pin-bar').click());
  expect(jumps).toEqual([5, 2]);
  drawing.do(() => void drawing.client.pin(KEY, 5, false));
  drawing.do(() => void drawing.client.pin(KEY, 2, false));
  expect(drawing.has('.pin-bar')).toBe(false);
});
