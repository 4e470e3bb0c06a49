// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { Drawing } from '../../test/draw.ts';
import type { Tab } from './open_shell.ts';
import { badgeText, TabBar } from './tab_bar.tsx';

const TITLES = { chats: 'Chats', contacts: 'Contacts', rooms: 'Rooms', me: 'Me' };

test('a count is a visible badge and a text for screen readers', () => {
  const drawing = new Drawing({ requests: 2 }).draw(
    <TabBar tab="chats" panelId="p" titles={TITLES} onChange={() => undefined} />,
  );
  const contacts = drawing.find('#tab-contacts');
  expect(contacts.querySelector('.badge')?.getAttribute('aria-hidden')).toBe('true');
  expect(contacts.querySelector('.hidden-text')?.textContent).toBe('2 requests');
  expect(badgeText(100)).toBe('99+');
});

test('arrow keys cycle through the tabs, and only the chosen tab is in the tab order', () => {
  const chosen: Tab[] = [];
  const drawing = new Drawing().draw(
    <TabBar tab="chats" panelId="p" titles={TITLES} onChange={tab => chosen.push(tab)} />,
  );
  for (const key of ['ArrowRight', 'ArrowLeft', 'End', 'Home'])
    drawing.press(drawing.find('[role=tablist]'), key);
  expect(chosen).toEqual(['contacts', 'me', 'me', 'chats']);
  expect(drawing.root.querySelectorAll('[role=tab][tabindex="0"]')).toHaveLength(1);
});

test('the Chats tab counts message requests of strangers', () => {
  const drawing = new Drawing();
  const { unread } = drawing.client.totals();
  drawing.client.totals = () => ({ unread, mentions: 0, conversations: 0, requests: 0, strangers: 2 });
  drawing.draw(<TabBar tab="me" panelId="p" titles={TITLES} onChange={() => undefined} />);
  const chats = drawing.find('#tab-chats');
  expect(chats.querySelector('.badge')?.textContent).toBe(badgeText(unread + 2));
  expect(chats.querySelector('.hidden-text')?.textContent).toContain('2 requests');
});
