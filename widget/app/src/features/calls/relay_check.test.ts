import { expect, test } from 'vitest';
import { verdict, wayOf } from './relay_check.ts';

test('the reached servers determine whether calls will work', () => {
  const found = { asked: true, direct: true, hasRelay: true, relays: ['UDP'] };
  expect(verdict(found)).toBe('good');
  expect(verdict({ ...found, direct: false })).toBe('relayed');
  expect(verdict({ ...found, relays: [] })).toBe('near');
  expect(verdict({ ...found, direct: false, relays: [] })).toBe('blocked');
  expect(verdict({ ...found, hasRelay: false, relays: [] })).toBe('near');
  expect(verdict({ asked: false, direct: false, hasRelay: false, relays: [] })).toBe('near');
});

test('the URL of a relay determines its transport', () => {
  expect(
    [
      'turn:a:3478',
      'turn:a?transport=tcp',
      'turns:a:5349?transport=tcp',
      'turns:a',
      'turns:a?transport=udp',
    ].map(wayOf),
  ).toEqual(['UDP', 'TCP', 'TLS', 'TLS', 'DTLS']);
});
