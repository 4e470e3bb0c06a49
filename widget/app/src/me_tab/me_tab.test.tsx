// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { Drawing } from '../../test/draw.ts';
import { MeTab } from './me_tab.tsx';

test('presence and theme are chosen by click and by arrows', () => {
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
