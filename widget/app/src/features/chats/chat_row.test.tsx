// @vitest-environment happy-dom

import { direct, MUTED_FOR_GOOD } from '@kith/client';
import { expect, test } from 'vitest';
import { Drawing } from '../../../test/draw.ts';
import { plain } from '../../../test/plain.ts';
import { ChatRow } from './chat_row.tsx';

/** The second chat of the fake client: pinned, with three unread messages. */
const KEY = direct('u3');

function row() {
  const drawing = new Drawing();
  return drawing.draw(<ChatRow conversation={KEY} chosen={false} tabIndex={0} />);
}

test('the row shows the name, the unread count and the pin as text', () => {
  const drawing = row();
  expect(drawing.find('.row-name').textContent).toBe('Kwame Becker');
  expect(drawing.text()).toContain('3 unread messages');
  expect(drawing.text()).toContain('Pinned');
});

test('the preview shows typing before a draft, and a draft before the last message', () => {
  const drawing = row();
  drawing.do(() => drawing.client.setDraft(KEY, 'half a'));
  expect(drawing.find('.row-preview').textContent).toBe('Draft: half a');
  drawing.client.typers.set(KEY, ['u3']);
  drawing.do(() => drawing.client.change(`typing:${KEY}`));
  expect(drawing.find('.row-preview').textContent).toBe('Typing…');
});

test('an own last message has the label "You" and its delivery state', () => {
  const drawing = row();
  drawing.client.chats.set(KEY, {
    ...drawing.client.conversation(KEY),
    last: { id: 'a', seq: 9, from: 'me', mine: true, body: 'on\nmy way', time: 0, state: 'read' },
  });
  drawing.do(() => drawing.client.change(`conversation:${KEY}`));
  expect(plain(drawing.find('.row-preview').textContent ?? '')).toBe('You: on my way');
  expect(drawing.find('.state').dataset.state).toBe('read');
});

test('the preview of a message of another app without a text is a placeholder', () => {
  const drawing = row();
  drawing.client.chats.set(KEY, {
    ...drawing.client.conversation(KEY),
    last: { id: 'a', seq: 9, from: 'u3', mine: false, body: '', opaque: true, time: 0, state: 'received' },
  });
  drawing.do(() => drawing.client.change(`conversation:${KEY}`));
  expect(drawing.find('.row-preview').textContent).toBe('Sent from another app. It cannot be shown here.');
});

test('a right click or long press opens the menu of the row', async () => {
  const drawing = row();
  const click = new MouseEvent('contextmenu', { bubbles: true, cancelable: true });
  drawing.do(() => void drawing.find('.row-main').dispatchEvent(click));
  expect(click.defaultPrevented).toBe(true);
  const { items } = await drawing.shownMenu();
  const names = items.map(item => item.text);
  expect(names).toEqual([
    'Mark as read',
    'Unpin',
    'Mute for 1 hour',
    'Mute for 8 hours',
    'Mute until I turn it back on',
    'Archive',
  ]);
  for (const name of ['Mark as read', 'Mute until I turn it back on', 'Archive']) {
    drawing.do(() => items.find(item => item.text === name)?.run());
  }
  expect(drawing.client.calls).toEqual([
    `seen ${KEY} 600`,
    `change ${KEY} {"mutedUntil":${MUTED_FOR_GOOD}}`,
    `change ${KEY} {"archived":true}`,
  ]);
});

test('a read chat can be marked as unread, and the row shows it', async () => {
  const drawing = row();
  drawing.client.chats.set(KEY, { ...drawing.client.conversation(KEY), unread: 0 });
  drawing.do(() => drawing.client.change(`conversation:${KEY}`));
  drawing.do(() => drawing.button('Actions for Kwame Becker').click());
  const { items } = await drawing.shownMenu();
  drawing.do(() => items.find(item => item.text === 'Mark as unread')?.run());
  expect(drawing.client.calls).toEqual([`change ${KEY} {"markedUnread":true}`]);
  expect([drawing.has('.badge-dot'), drawing.has('.is-unread')]).toEqual([true, true]);
});

test('a failed change is announced', async () => {
  const drawing = row();
  drawing.client.changeConversation = () => Promise.reject(new Error('offline'));
  drawing.do(() => drawing.button('Actions for Kwame Becker').click());
  const { items } = await drawing.shownMenu();
  drawing.do(() => items.find(item => item.text === 'Unpin')?.run());
  await Promise.resolve();
  await Promise.resolve();
  expect(drawing.said).toEqual(['Something went wrong. Try again.']);
});
