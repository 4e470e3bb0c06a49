// @vitest-environment happy-dom

import { beforeAll, expect, test } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { ContactsTab } from './contacts_tab.tsx';

beforeAll(() => lateWords.fetch(WORDING));

/** A site without a directory: the tab shows only contacts. */
const CLOSED = { open: false, chats: 0 };

test('contacts that could not be loaded show an error until a retry loads them', () => {
  const drawing = new Drawing(CLOSED);
  drawing.client.missing.add('contacts');
  drawing.client.fails = true;
  drawing.draw(<ContactsTab />);
  expect(drawing.find('[role=alert]').textContent).toContain('Could not load this');
  expect([drawing.has('.empty'), drawing.has('.person-row')]).toEqual([false, false]);
  drawing.do(() => drawing.button('Try again').click());
  expect(drawing.has('[role=alert]')).toBe(true);
  drawing.client.fails = false;
  drawing.do(() => drawing.button('Try again').click());
  expect([drawing.has('[role=alert]'), drawing.has('.person-row')]).toEqual([false, true]);
});

test('a member without contacts sees that the list is empty', () => {
  const drawing = new Drawing({ ...CLOSED, people: 0 });
  drawing.draw(<ContactsTab />);
  expect(drawing.has('.empty h3')).toBe(true);
  expect(drawing.has('[role=alert]')).toBe(false);
});

test('during the first connection attempt contacts are loading, not failed', () => {
  const drawing = new Drawing(CLOSED);
  drawing.client.missing.add('contacts');
  drawing.client.fails = true;
  drawing.client.state = { state: 'connecting', shared: false };
  drawing.draw(<ContactsTab />);
  expect([drawing.has('.skeleton'), drawing.has('[role=alert]'), drawing.has('.empty')]).toEqual([
    true,
    false,
    false,
  ]);
});
