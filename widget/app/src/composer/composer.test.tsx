// @vitest-environment happy-dom

import { direct, type Message } from '@kith/client';
import { createRef } from 'preact';
import { expect, test } from 'vitest';
import { Drawing } from '../../test/draw.ts';
import { Composer } from './composer.tsx';

const KEY = direct('u3');

function composer(replyTo?: Message) {
  const drawing = new Drawing();
  const field = createRef<HTMLTextAreaElement>();
  const state = { sent: 0, cancelled: 0 };
  drawing.draw(
    <Composer
      conversation={drawing.client.conversation(KEY)}
      field={field}
      replyTo={replyTo}
      onCancelReply={() => {
        state.cancelled += 1;
      }}
      onSent={() => {
        state.sent += 1;
      }}
    />,
  );
  const sends = () => drawing.client.calls.filter(call => call.startsWith('send'));
  return { drawing, field: drawing.find<HTMLTextAreaElement>('textarea'), state, sends };
}

test('Enter sends, the field and the draft are empty again', () => {
  const { drawing, field, state, sends } = composer();
  drawing.type(field, 'hello ');
  expect(drawing.client.draft(KEY)).toBe('hello ');
  expect(drawing.press(field, 'Enter').defaultPrevented).toBe(true);
  expect(sends()).toEqual([`send ${KEY} hello `]);
  expect([field.value, drawing.client.draft(KEY), state.sent]).toEqual(['', '', 1]);
});

test('Shift and Enter make a line, also other keys with Enter are left alone', () => {
  const { drawing, field, sends } = composer();
  drawing.type(field, 'hello');
  for (const key of ['shiftKey', 'altKey', 'ctrlKey', 'metaKey']) {
    expect(drawing.press(field, 'Enter', { [key]: true }).defaultPrevented).toBe(false);
  }
  expect(sends()).toEqual([]);
});

test('nothing but blanks is not sent', () => {
  const { drawing, field, sends } = composer();
  drawing.type(field, ' \n ');
  drawing.press(field, 'Enter');
  drawing.do(() => drawing.button('Send').click());
  expect(sends()).toEqual([]);
});

test('a text over the limit says how much and is kept', () => {
  const { drawing, field, sends } = composer();
  drawing.type(field, '€'.repeat(1_334));
  drawing.press(field, 'Enter');
  expect(drawing.text()).toContain('2 characters too long');
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(sends()).toEqual([]);
});

test('Escape first takes back the reply', () => {
  const message: Message = {
    id: 'x',
    seq: 4,
    from: 'u3',
    mine: false,
    body: 'why?',
    time: 0,
    state: 'received',
  };
  const { drawing, field, state } = composer(message);
  expect(drawing.text()).toContain('why?');
  expect(drawing.press(field, 'Escape').defaultPrevented).toBe(true);
  expect(state.cancelled).toBe(1);
});
