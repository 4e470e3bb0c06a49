// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { WORDING } from '../../test/draw.ts';
import { waitingText } from './waiting_text.ts';

test('the text of a badge names unread messages and message requests, without a zero', () => {
  const text = (unread: number, strangers: number) => waitingText(WORDING, { unread, strangers });
  expect(text(2, 1)).toBe('2 unread messages, 1 request');
  expect(text(0, 2)).toBe('2 requests');
  expect(text(1, 0)).toBe('1 unread message');
  expect(text(0, 0)).toBe('');
});
