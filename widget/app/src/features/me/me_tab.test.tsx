// @vitest-environment happy-dom

import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { soundIsOn } from '../toasts/sound_preference.ts';
import { MeTab, words } from './me_tab.tsx';

beforeAll(() => words.fetch(WORDING));
beforeEach(() => localStorage.clear());

test('a click or an arrow key chooses the presence, and a click the theme', () => {
  const themes: string[] = [];
  const theme = { dark: false, choice: 'auto', choose: (one: string) => void themes.push(one) } as const;
  const drawing = new Drawing().draw(<MeTab theme={theme} />);
  const chosen = () => drawing.find('.choices [aria-checked=true]').textContent;
  expect(chosen()).toContain('Online');
  drawing.press(drawing.find('.choices'), 'ArrowDown');
  expect(chosen()).toContain('Away');
  drawing.do(() => drawing.root.querySelectorAll<HTMLElement>('.choice')[3]?.click());
  expect(chosen()).toContain('Invisible');
  drawing.do(() => drawing.button('Dark').click());
  expect(themes).toEqual(['dark']);
});

test('sound is on until the member turns it off, and the choice is kept', () => {
  const theme = { dark: false, choice: 'auto', choose: () => undefined } as const;
  const drawing = new Drawing().draw(<MeTab theme={theme} />);
  const sound = () => drawing.find('[role=switch]');
  expect([sound().getAttribute('aria-checked'), soundIsOn(), localStorage.length]).toEqual(['true', true, 0]);
  drawing.do(() => sound().click());
  expect([sound().getAttribute('aria-checked'), soundIsOn()]).toEqual(['false', false]);
  drawing.draw(<p />).draw(<MeTab theme={theme} />);
  expect(sound().getAttribute('aria-checked')).toBe('false');
});

test('without storage the choice lasts until the page unloads', () => {
  vi.stubGlobal('localStorage', undefined);
  const theme = { dark: false, choice: 'auto', choose: () => undefined } as const;
  const drawing = new Drawing().draw(<MeTab theme={theme} />);
  const before = soundIsOn();
  for (const wanted of [!before, before]) {
    drawing.do(() => drawing.find('[role=switch]').click());
    expect(soundIsOn()).toBe(wanted);
  }
  vi.unstubAllGlobals();
});
