import { expect, test } from 'vitest';
import { hueOf, initialsOf } from './hue.ts';

test('a user always has the same colour, and similar ids differ', () => {
  expect(hueOf('ana')).toBe(hueOf('ana'));
  const seen = new Set(Array.from({ length: 50 }, (_, i) => hueOf(`user-${i}`)));
  expect(seen.size).toBeGreaterThan(7);
});

test('initials come from the first and the last word', () => {
  expect(initialsOf('Ana Maria Silva')).toBe('AS');
  expect(initialsOf('tom')).toBe('T');
  expect(initialsOf('jean-luc')).toBe('JL');
  expect(initialsOf('  ')).toBe('');
});

test('initials keep letters of any script whole', () => {
  expect(initialsOf('Émile Zola')).toBe('ÉZ');
  expect(initialsOf('محمد علي')).toBe('مع');
  expect(initialsOf('👩‍🚀 Zoe')).toBe('👩‍🚀Z');
  expect(initialsOf('(Ben)')).toBe('B');
});
