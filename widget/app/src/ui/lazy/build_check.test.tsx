// @vitest-environment happy-dom

import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { ConnectionBanner, words } from '../../features/connection/connection_banner.tsx';
import { useConnectionProblem } from '../../features/connection/connection_problem.ts';
import { checkBuild, forgetBuild } from './build_check.ts';

beforeAll(() => words.fetch(WORDING));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  forgetBuild();
});

function Shown() {
  const trouble = useConnectionProblem();
  return trouble ? <ConnectionBanner trouble={trouble} /> : null;
}

const answers = (status: number) => (async () => new Response(null, { status })) as typeof fetch;
const later = (drawing: Drawing) => drawing.do(() => void vi.advanceTimersByTime(2_000));

test('a page whose build is gone offers one reload', async () => {
  const drawing = new Drawing().draw(<Shown />);
  await checkBuild('/kith/app-0000000.js', answers(404));
  await checkBuild('/kith/app-0000000.js', answers(404));
  later(drawing);
  later(drawing);
  expect(drawing.text()).toContain('A new version is available. Your draft is kept.');
  expect(drawing.button('Reload')).toBeDefined();
  expect(drawing.said).toEqual(['A new version is available. Your draft is kept.']);
});

test('a failed network or a single failed part is no new version', async () => {
  const drawing = new Drawing().draw(<Shown />);
  await checkBuild('/kith/app-0000000.js', () => Promise.reject(new TypeError('no network')));
  await checkBuild('/kith/app-0000000.js', answers(200));
  await checkBuild('/kith/app-0000000.js', answers(502));
  later(drawing);
  expect(drawing.text()).toBe('');
});
