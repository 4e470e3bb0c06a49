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

test('a contact request can be accepted, declined or, after a confirmation, blocked', () => {
  const drawing = banner('request_received');
  drawing.do(() => drawing.button('Accept').click());
  drawing.do(() => drawing.button('Decline').click());
  drawing.do(() => drawing.button('Block').click());
  expect(drawing.client.calls).toEqual(['accept u1', 'decline u1']);
  expect(drawing.question?.title).toBe('Block Tom Costa?');
  drawing.do(() => drawing.question?.onYes());
  expect(drawing.client.calls.at(-1)).toBe('block u1');
});

test('a blocked user can be unblocked, also on an open site', () => {
  const drawing = banner('blocked', true);
  drawing.do(() => drawing.button('Unblock').click());
  expect(drawing.client.calls).toEqual(['unblock u1']);
});

test('the banner is empty for contacts and on an open site', () => {
  expect(banner('contact').text()).toBe('');
  expect(banner('none', true).text()).toBe('');
});

test('a stranger can be added to the contacts, and a sent request is shown', () => {
  const drawing = banner('none');
  drawing.do(() => drawing.button('Add to contacts').click());
  expect(drawing.client.calls).toEqual(['request u1']);
  expect(banner('request_sent').text()).toContain('You sent Tom Costa a contact request');
});
