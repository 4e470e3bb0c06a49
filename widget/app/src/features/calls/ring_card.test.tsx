// @vitest-environment happy-dom

import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { plain } from '../../../test/plain.ts';
import { lateWords } from '../../wording/late_words.ts';
import { begun, type CallView } from './call_view.ts';
import { type RingActions, RingCard } from './ring_card.tsx';

beforeAll(() => lateWords.fetch(WORDING));

function card(more: Partial<CallView> = {}) {
  const actions = {
    accept: vi.fn(),
    decline: vi.fn(),
    write: vi.fn(),
    dismiss: vi.fn(),
    silence: vi.fn(),
  } satisfies RingActions;
  const drawing = new Drawing();
  const shown: CallView = { ...begun('u2', 'video', 'ringing', false), ...more };
  drawing.draw(<RingCard shown={shown} actions={actions} />);
  return { drawing, actions };
}

test('the card shows the caller and the kind of call, and has a button for each answer', () => {
  const { drawing, actions } = card();
  expect(plain(drawing.find('.call-card').getAttribute('aria-label') ?? '')).toBe(
    'Léa Okafor is calling with video',
  );
  drawing.button('Accept with video').click();
  drawing.button('Accept with voice only').click();
  drawing.button('Decline').click();
  drawing.button('Decline and send a message').click();
  expect(actions.accept.mock.calls).toEqual([['video'], ['audio']]);
  expect([actions.decline.mock.calls.length, actions.write.mock.calls.length]).toEqual([1, 1]);
});

test('an audio call can only be accepted with audio', () => {
  const { drawing } = card({ media: 'audio' });
  expect(() => drawing.button('Accept with video')).toThrow();
  expect(drawing.find('.call-yes').getAttribute('aria-label')).toBe('Accept with voice only');
});

test('Escape stops the sound, not the call', () => {
  const { drawing, actions } = card();
  expect(drawing.press(drawing.find('.call-card'), 'Escape').defaultPrevented).toBe(true);
  expect([actions.silence.mock.calls.length, actions.decline.mock.calls.length]).toEqual([1, 0]);
});

test('the card warns before the IP address is shown to a stranger', () => {
  expect(card().drawing.has('.call-hint')).toBe(false);
  const hint = card({ exposed: true }).drawing.find('.call-hint').textContent ?? '';
  expect(plain(hint)).toContain('Léa Okafor is not in your contacts');
});

test('while it rings, the card shows a microphone error, and the user can try again', () => {
  const { drawing, actions } = card({ problem: { of: 'mic', why: 'denied' } });
  expect(drawing.find('.call-trouble').textContent).toContain('blocks the microphone on this page');
  drawing.button('Try again').click();
  drawing.button('Close').click();
  expect([actions.accept.mock.calls, actions.dismiss.mock.calls.length]).toEqual([[['audio']], 1]);
});
