// @vitest-environment happy-dom

import { direct } from '@kith/client';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { plain } from '../../../test/plain.ts';
import { MessageAlerts, SETTLE_MS } from './message_alerts.ts';
import { SHOWN_MS } from './toast.tsx';
import { ToastPlace, words } from './toast_outlet.tsx';

beforeAll(() => words.fetch(WORDING));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Renders the outlet for toasts. `says` simulates messages of u2. */
function scene() {
  const drawing = new Drawing();
  const { client } = drawing;
  const notices = new MessageAlerts({
    client,
    chime: () => undefined,
    soundIsOn: () => false,
    onScreen: () => false,
  });
  let onScreen: string | undefined;
  let reading = true;
  client.on('message', happened => notices.hear(happened, !reading));
  const draw = () => drawing.draw(<ToastPlace notices={notices} onScreen={key => key === onScreen} />);
  draw();
  const says = (text: string) => {
    client.arrive('u2', text);
    drawing.do(() => void vi.advanceTimersByTime(SETTLE_MS));
  };
  const show = (key: string) => {
    onScreen = key;
    draw();
  };
  const pass = (ms: number) => drawing.do(() => void vi.advanceTimersByTime(ms));
  const read = (on: boolean) => {
    reading = on;
  };
  return { drawing, notices, says, show, pass, read };
}

test('a toast shows author and text; a click opens the chat and removes it', () => {
  const { drawing, says } = scene();
  says('Can you hear me?');
  expect(plain(drawing.find('.toast').getAttribute('aria-label') ?? '')).toBe('New message from Léa Okafor');
  expect(drawing.find('.toast-text').textContent).toBe('Can you hear me?');
  drawing.do(() => drawing.find('.toast-main').click());
  expect(drawing.opened).toEqual([direct('u2')]);
  expect(drawing.has('.toast')).toBe(false);
});

test('a toast disappears after SHOWN_MS, but not under the pointer', () => {
  const { drawing, says, pass } = scene();
  says('hello');
  drawing.do(() => void drawing.find('.toast').dispatchEvent(new Event('pointerenter')));
  pass(2 * SHOWN_MS);
  expect(drawing.has('.toast')).toBe(true);
  drawing.do(() => void drawing.find('.toast').dispatchEvent(new Event('pointerleave')));
  pass(SHOWN_MS);
  expect(drawing.has('.toast')).toBe(false);
});

test('the button and Escape dismiss a toast', () => {
  const { drawing, says } = scene();
  says('hello');
  drawing.do(() => drawing.button('Dismiss').click());
  expect(drawing.has('.toast')).toBe(false);
  says('again');
  drawing.press(drawing.find('.toast-main'), 'Escape');
  expect(drawing.has('.toast')).toBe(false);
});

test('a toast counts messages of one chat, and opening the chat removes it', () => {
  const { drawing, notices, says, show } = scene();
  says('one');
  says('two');
  expect(drawing.find('.toast .badge').textContent).toContain('2 unread messages');
  show(direct('u2'));
  expect(drawing.has('.toast')).toBe(false);
  expect(notices.toast()).toBeUndefined();
});

test('the toast announces a message that arrived before the live region', () => {
  const { drawing, says, read } = scene();
  read(false);
  says('early');
  expect(drawing.said).toEqual(['Léa Okafor: early']);
  read(true);
  says('later');
  expect(drawing.said).toEqual(['Léa Okafor: early']);
});
