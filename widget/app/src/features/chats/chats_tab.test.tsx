// @vitest-environment happy-dom

import { direct } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { fetchPart } from '../../ui/lazy/lazy.tsx';
import { ChatsTab, filterChips } from './chats_tab.tsx';

beforeAll(() => fetchPart(filterChips, WORDING));

const KEY = direct('u4');

test('message requests from strangers have a row above the chats that opens their list', () => {
  const drawing = new Drawing();
  drawing.draw(<ChatsTab chosen={undefined} onFindPeople={() => undefined} />);
  expect(drawing.has('.requests-row')).toBe(false);
  drawing.client.chats.set(KEY, { ...drawing.client.conversation(KEY), request: 'received' });
  drawing.do(() => drawing.client.change('totals'));
  const row = drawing.find('.requests-row');
  expect(row.textContent).toContain('1 request');
  drawing.do(() => row.click());
  expect(drawing.find('[role=radio][aria-checked=true]').textContent).toBe('Requests');
  expect(drawing.has('.requests-row')).toBe(false);
});

/** Renders the tab without chats and selects a filter. */
function chatsUnder(filter: string, prepare: (drawing: Drawing) => void = () => undefined) {
  const drawing = new Drawing({ chats: 0 });
  prepare(drawing);
  drawing.draw(<ChatsTab chosen={undefined} onFindPeople={() => undefined} />);
  drawing.do(() => {
    const chips = Array.from(drawing.root.querySelectorAll<HTMLElement>('[role=radio]'));
    chips.find(one => one.textContent === filter)?.click();
  });
  return drawing;
}

test.each([
  ['All', 'main', 'No chats yet'],
  ['Unread', 'unread', 'You are all caught up'],
  ['Archived', 'archived', 'No archived chats'],
] as const)(
  'the list %s shows an error if it could not be loaded, until a retry loads it',
  async (filter, list, empty) => {
    const drawing = chatsUnder(filter, ({ client }) => {
      client.missing.add(list);
      client.fails = true;
    });
    await vi.waitFor(() => expect(drawing.find('[role=alert]').textContent).toContain('Could not load this'));
    expect(drawing.has('.empty')).toBe(false);
    const asked = () => drawing.client.calls.filter(one => one === `load ${list}`).length;
    const before = asked();
    drawing.do(() => drawing.button('Try again').click());
    expect([asked(), drawing.has('[role=alert]')]).toEqual([before + 1, true]);
    drawing.client.fails = false;
    drawing.do(() => drawing.button('Try again').click());
    expect([asked(), drawing.has('[role=alert]')]).toEqual([before + 2, false]);
    expect(drawing.find('.empty h3').textContent).toBe(empty);
  },
);

test('a loaded list without chats shows that it is empty', async () => {
  const drawing = chatsUnder('Archived');
  await vi.waitFor(() => expect(drawing.find('.empty h3').textContent).toBe('No archived chats'));
  expect(drawing.has('[role=alert]')).toBe(false);
});

test('loaded chats stay visible above the error of the next page', async () => {
  const drawing = new Drawing();
  const { keys } = drawing.client.conversations();
  const pages = { keys, more: true, loading: false, failed: true };
  drawing.client.conversations = () => pages;
  drawing.draw(<ChatsTab chosen={undefined} onFindPeople={() => undefined} />);
  await vi.waitFor(() => expect(drawing.has('.load-failed')).toBe(true));
  expect(drawing.has('[data-chat]')).toBe(true);
  expect(drawing.client.calls).not.toContain('load main');
  drawing.do(() => drawing.button('Try again').click());
  expect(drawing.client.calls).toContain('load main');
});

test('during the first connection attempt a list shows that it is loading, not an error', async () => {
  const drawing = chatsUnder('Archived', ({ client }) => {
    client.missing.add('archived');
    client.fails = true;
    client.state = { state: 'connecting', shared: false };
  });
  await vi.waitFor(() => expect(drawing.has('.skeleton')).toBe(true));
  expect([drawing.has('[role=alert]'), drawing.has('.empty')]).toEqual([false, false]);
});
