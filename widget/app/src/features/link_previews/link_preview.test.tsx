// @vitest-environment happy-dom

import { expect, test } from 'vitest';
import { Drawing } from '../../../test/draw.ts';
import { hostOf, PreviewCard } from './link_preview.tsx';

test('a preview is plain text and links to its page', () => {
  const preview = {
    url: 'https://www.example.org/lake?a=b',
    title: '<b>A new lake</b>',
    description: 'Behind the hill',
  };
  const drawing = new Drawing().draw(<PreviewCard preview={preview} />);
  const link = drawing.find<HTMLAnchorElement>('a');
  expect(link.getAttribute('href')).toBe(preview.url);
  expect(link.rel).toContain('noopener');
  expect(drawing.text()).toContain('<b>A new lake</b>');
  expect(drawing.text()).toContain('example.org');
});

test('a page without a name is shown with its host', () => {
  expect(hostOf('https://www.example.org/a')).toBe('example.org');
  expect(hostOf('nothing')).toBe('');
});
