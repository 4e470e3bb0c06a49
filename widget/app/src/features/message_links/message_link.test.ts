import { expect, test } from 'vitest';
import { linkTo, readLink } from './message_link.tsx';

test('parsing a link returns its message', () => {
  const link = linkTo('https://forum.example/thread/42?page=2#post-7', '8000000000000001', 12);
  expect(link).toBe('https://forum.example/thread/42?page=2#kith=8000000000000001.12');
  expect(readLink(new URL(link).hash)).toEqual({ conversation: '8000000000000001', seq: 12 });
});

test('an invalid fragment is no link', () => {
  for (const hash of [
    '',
    '#',
    '#kith',
    '#kith=',
    '#kith=a',
    '#kith=a.0',
    '#kith=a.-1',
    '#kith=a.1e9',
    '#kith=<b>.1',
    `#kith=${'a'.repeat(65)}.1`,
  ]) {
    expect(readLink(hash)).toBeUndefined();
  }
});
