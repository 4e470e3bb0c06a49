// @vitest-environment happy-dom

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Drawing } from '../test/draw.ts';
import type { Stories } from './story.ts';

const FILES = import.meta.glob<{ stories: Stories }>('../src/ui/**/*.stories.tsx', { eager: true });
const UI = join(dirname(fileURLToPath(import.meta.url)), '../src/ui');

const errors: unknown[][] = [];
beforeEach(() => {
  errors.length = 0;
  vi.spyOn(console, 'error').mockImplementation((...said) => void errors.push(said));
});
afterEach(() => vi.restoreAllMocks());

describe.each(Object.entries(FILES))('%s', (_, { stories }) => {
  test.each(Object.entries(stories))('%s renders without an error', async (_, Story) => {
    const drawing = new Drawing().draw(<Story />);
    await vi.waitFor(() => expect(drawing.root.childElementCount).toBeGreaterThan(0));
    expect(errors).toEqual([]);
  });
});

test('every part with a view or a style has a story', () => {
  const drawn = readdirSync(UI).filter(part =>
    readdirSync(join(UI, part)).some(file => file === `${part}.tsx` || file === `${part}.css`),
  );
  const told = Object.keys(FILES).map(path => path.split('/').at(-2));
  expect(drawn.filter(part => !told.includes(part))).toEqual([]);
});
