// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { Drawing } from '../../../test/draw.ts';
import { Avatar } from './avatar.tsx';

const person = (avatar?: string) => ({
  user: 'ana',
  name: 'Ana Silva',
  guest: false,
  ...(avatar && { avatar }),
});

test('an avatar without a picture shows the initials', () => {
  expect(new Drawing().draw(<Avatar person={person()} />).text()).toBe('AS');
});

test('only http and https pictures are loaded', () => {
  for (const avatar of ['javascript:alert(1)', 'data:image/svg+xml,<svg/>', 'blob:x', 'http://[']) {
    expect(new Drawing().draw(<Avatar person={person(avatar)} />).has('img')).toBe(false);
  }
  const image = new Drawing().draw(<Avatar person={person('https://a.example/ana.png')} />).find('img');
  expect(image.getAttribute('alt')).toBe('');
  expect(image.getAttribute('referrerpolicy')).toBe('no-referrer');
});

test('a picture that fails to load is replaced by the initials', () => {
  const drawing = new Drawing().draw(<Avatar person={person('https://a.example/gone.png')} />);
  drawing.do(() => void drawing.find('img').dispatchEvent(new Event('error')));
  expect(drawing.text()).toBe('AS');
});

test('each presence has a text and its own shape', () => {
  const shapes = new Set<string>();
  for (const presence of ['online', 'away', 'busy', 'offline', 'unknown'] as const) {
    const drawing = new Drawing().draw(<Avatar person={person()} presence={presence} />);
    shapes.add(drawing.find('.presence svg').innerHTML);
    expect(drawing.find('.presence .hidden-text').textContent).not.toBe('');
  }
  expect(shapes.size).toBe(5);
});
