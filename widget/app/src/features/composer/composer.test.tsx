// @vitest-environment happy-dom

import { direct, type Message } from '@kith/client';
import { createRef } from 'preact';
import { expect, test, vi } from 'vitest';
import { Drawing } from '../../../test/draw.ts';
import { Composer } from './composer.tsx';

const KEY = direct('u3');

function composer(replyTo?: Message, editing?: Message, before?: () => void) {
  const drawing = new Drawing();
  before?.();
  const field = createRef<HTMLTextAreaElement>();
  const state = { sent: 0, cancelled: 0, last: 0 };
  drawing.draw(
    <Composer
      conversation={drawing.client.conversation(KEY)}
      source={drawing.client}
      writing={{
        field,
        replyTo,
        editing,
        cancel: () => {
          state.cancelled += 1;
        },
        editLast: () => {
          state.last += 1;
        },
        sent: () => {
          state.sent += 1;
        },
      }}
    />,
  );
  const sends = () => drawing.client.calls.filter(call => call.startsWith('send'));
  return { drawing, field: drawing.find<HTMLTextAreaElement>('textarea'), state, sends };
}

test('Enter sends, and clears the field and the draft', () => {
  const { drawing, field, state, sends } = composer();
  drawing.type(field, 'hello ');
  expect(drawing.client.draft(KEY)).toBe('hello ');
  expect(drawing.press(field, 'Enter').defaultPrevented).toBe(true);
  expect(sends()).toEqual([`send ${KEY} hello `]);
  expect([field.value, drawing.client.draft(KEY), state.sent]).toEqual(['', '', 1]);
});

test('Shift and Enter start a new line, and Enter with another modifier does not send', () => {
  const { drawing, field, sends } = composer();
  drawing.type(field, 'hello');
  for (const key of ['shiftKey', 'altKey', 'ctrlKey', 'metaKey']) {
    expect(drawing.press(field, 'Enter', { [key]: true }).defaultPrevented).toBe(false);
  }
  expect(sends()).toEqual([]);
});

test('a text of only white space is not sent', () => {
  const { drawing, field, sends } = composer();
  drawing.type(field, ' \n ');
  drawing.press(field, 'Enter');
  drawing.do(() => drawing.button('Send').click());
  expect(sends()).toEqual([]);
});

test('a text over the limit shows the excess and is kept', () => {
  const { drawing, field, sends } = composer();
  drawing.type(field, '€'.repeat(1_334));
  drawing.press(field, 'Enter');
  expect(drawing.text()).toContain('2 characters too long');
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(sends()).toEqual([]);
});

test('Escape first cancels the reply', () => {
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

const OWN: Message = {
  id: 'm1',
  seq: 4,
  from: 'me',
  mine: true,
  body: 'helo',
  time: 0,
  state: 'read',
};

test('editing starts with the text of the message, saves it, and does not change the draft', () => {
  const { drawing, field, state, sends } = composer(undefined, OWN);
  expect(field.value).toBe('helo');
  drawing.type(field, 'hello');
  expect(drawing.client.draft(KEY)).toBe('');
  drawing.press(field, 'Enter');
  expect(drawing.client.calls).toContain(`edit ${KEY} 4 hello`);
  expect([state.sent, sends()]).toEqual([1, []]);
});

test('an unchanged edit sends nothing, and an empty edit asks to delete', async () => {
  const { drawing, field, state } = composer(undefined, OWN);
  drawing.press(field, 'Enter');
  expect(state.sent).toBe(1);
  drawing.type(field, ' ');
  drawing.press(field, 'Enter');
  await vi.waitFor(() => expect(drawing.question?.title).toBe('Delete this message?'));
  drawing.question?.onYes();
  expect(drawing.client.calls.filter(one => /^(edit|remove)/.test(one))).toEqual([`remove ${KEY} 4`]);
});

test('ArrowUp in an empty field edits the last own message, and in a text it moves the cursor', () => {
  const { drawing, field, state } = composer();
  drawing.press(field, 'ArrowUp');
  drawing.type(field, 'a');
  expect(drawing.press(field, 'ArrowUp').defaultPrevented).toBe(false);
  expect(state.last).toBe(1);
});

test('Control and B make the selection bold, and plain again', () => {
  const { drawing, field } = composer();
  drawing.type(field, 'so big');
  field.setSelectionRange(3, 6);
  drawing.press(field, 'b', { ctrlKey: true });
  expect(field.value).toBe('so **big**');
  field.setSelectionRange(5, 8);
  drawing.press(field, 'b', { ctrlKey: true });
  expect(field.value).toBe('so big');
});

test('a chosen emoji puts the cursor behind it immediately', async () => {
  const { drawing, field } = composer();
  drawing.type(field, 'well :tada');
  await vi.waitFor(() => expect(drawing.text()).toContain(':tada:'));
  drawing.press(field, 'Enter');
  expect(field.value).toBe('well 🎉 ');
  // This text is typed before the browser paints again.
  drawing.type(field, 'hello everybody');
  await new Promise(requestAnimationFrame);
  expect([field.value, field.selectionStart]).toEqual(['hello everybody', 15]);
});

test('a suggestion from an outdated list replaces the whole word', async () => {
  const { drawing, field } = composer();
  drawing.type(field, 'well :tad');
  await vi.waitFor(() => expect(drawing.text()).toContain(':tada:'));
  drawing.type(field, 'well :tada');
  drawing.press(field, 'Enter');
  expect([field.value, field.selectionStart]).toEqual(['well 🎉 ', 8]);
});

test('the field takes the focus, but not from a message', () => {
  const { field } = composer();
  expect(document.activeElement).toBe(field);
  const message = document.createElement('button');
  const goToMessage = () => {
    const history = document.createElement('div');
    history.className = 'history';
    history.append(message);
    document.body.append(history);
    message.focus();
  };
  composer(undefined, undefined, goToMessage);
  expect(document.activeElement).toBe(message);
  const edit = composer(undefined, OWN, goToMessage);
  expect(document.activeElement).toBe(edit.field);
});
