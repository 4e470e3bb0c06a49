// @vitest-environment happy-dom

import { direct } from '@kith/client';
import { beforeAll, expect, test } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { fetchPart } from '../../ui/lazy/lazy.tsx';
import { ChatsTab, filterChips } from './chats_tab.tsx';

beforeAll(() => fetchPart(filterChips, WORDING));

const KEY = direct('u4');

test('the requests of strangers have a row above the chats, which leads to them', () => {
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
