// @vitest-environment happy-dom

import { type ContactState, direct } from '@kith/client';
import { beforeAll, expect, test } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { StrangerBanner } from './stranger_banner.tsx';

beforeAll(() => lateWords.fetch(WORDING));

function banner(state: ContactState, open = false) {
  const drawing = new Drawing({ open });
  return drawing.draw(
    <StrangerBanner conversation={drawing.client.conversation(direct('u1'))} state={state} />,
  );
}

test('somebody who asks can be accepted, declined or, after a question, blocked', () => {
  const drawing = banner('request_received');
  drawing.do(() => drawing.button('Accept').click());
  drawing.do(() => drawing.button('Decline').click());
  drawing.do(() => drawing.button('Block').click());
  expect(drawing.client.calls).toEqual(['accept u1', 'decline u1']);
  expect(drawing.question?.title).toBe('Block Tom Costa?');
  drawing.do(() => drawing.question?.onYes());
  expect(drawing.client.calls.at(-1)).toBe('block u1');
});

test('a blocked person can be let in again, also where everybody sees everybody', () => {
  const drawing = banner('blocked', true);
  drawing.do(() => drawing.button('Unblock').click());
  expect(drawing.client.calls).toEqual(['unblock u1']);
});

test('among contacts, and where everybody sees everybody, there is nothing to say', () => {
  expect(banner('contact').text()).toBe('');
  expect(banner('none', true).text()).toBe('');
});

test('a stranger can be asked, and who was asked is told', () => {
  const drawing = banner('none');
  drawing.do(() => drawing.button('Add to contacts').click());
  expect(drawing.client.calls).toEqual(['request u1']);
  expect(banner('request_sent').text()).toContain('You sent Tom Costa a contact request');
});
