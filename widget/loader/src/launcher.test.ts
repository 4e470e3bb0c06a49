// @vitest-environment happy-dom

import { afterEach, expect, test } from 'vitest';
import { createLauncher } from './launcher.ts';
import type { Settings } from './settings.ts';

const SETTINGS: Settings = {
  site: 'garden',
  server: 'https://im.example',
  mode: 'bubble',
  lang: 'en',
  theme: 'light',
  position: 'right',
  iconDot: true,
  worker: '/kith-sw.js',
};

afterEach(() => document.body.replaceChildren());

test('the name of the button has the number that the badge shows, also without a connection', () => {
  const { button, setUnread, setState } = createLauncher(SETTINGS, document.body);
  setUnread(3);
  expect(button.textContent).toBe('3');
  expect(button.getAttribute('aria-label')).toMatch(/, 3 unread/);
  setState('away');
  expect(button.textContent).toBe('3');
  expect(button.getAttribute('aria-label')).toMatch(/unavailable, 3 unread/);
  setUnread(0);
  expect(button.getAttribute('aria-label')).not.toMatch(/unread/);
});
