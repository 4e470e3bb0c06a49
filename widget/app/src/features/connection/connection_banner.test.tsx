// @vitest-environment happy-dom

import type { Status } from '@kith/client';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { ConnectionBanner, words } from './connection_banner.tsx';
import { kindOf, useConnectionProblem } from './connection_problem.ts';

beforeAll(() => words.fetch(WORDING));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function Shown() {
  const trouble = useConnectionProblem();
  return trouble ? <ConnectionBanner trouble={trouble} /> : null;
}

const later = (drawing: Drawing, ms: number) => drawing.do(() => void vi.advanceTimersByTime(ms));

function change(drawing: Drawing, state: Status) {
  drawing.client.state = state;
  drawing.do(() => drawing.client.change('status'));
}

test('a short interruption is not shown, and a lost connection and its return are announced', () => {
  const drawing = new Drawing().draw(<Shown />);
  change(drawing, { state: 'waiting', shared: false });
  later(drawing, 1_000);
  change(drawing, { state: 'online', shared: false });
  later(drawing, 5_000);
  expect(drawing.text()).toBe('');
  expect(drawing.said).toEqual([]);

  change(drawing, { state: 'offline', shared: false });
  later(drawing, 2_000);
  expect(drawing.text()).toContain('You are offline');
  change(drawing, { state: 'online', shared: false });
  later(drawing, 1);
  expect(drawing.text()).toBe('');
  expect(drawing.said).toEqual(['Connection lost', 'Connected again']);
});

test('the user can try again immediately', () => {
  const drawing = new Drawing().draw(<Shown />);
  change(drawing, { state: 'waiting', shared: false });
  later(drawing, 2_000);
  drawing.do(() => drawing.button('Try again').click());
  expect(drawing.client.calls).toEqual(['connect']);
});

test('a stopped connection shows what the user can do', () => {
  const kind = (code: NonNullable<Status['code']>) => kindOf({ state: 'stopped', code, shared: false });
  expect(kind('replaced')).toBe('replaced');
  expect(kind('token_expired')).toBe('signed_out');
  expect(kind('no_guests')).toBe('signed_out');
  expect(kind('bad_origin')).toBe('refused');
  expect(kind('banned')).toBe('banned');
  expect(kind('device_banned')).toBe('banned');
  expect(kindOf({ state: 'connecting', shared: false })).toBe('connecting');
  expect(kindOf({ state: 'online', shared: true })).toBeUndefined();
});
