import { expect, test } from 'vitest';
import { uuid7 } from './id.ts';
import { claims } from './token_claims.ts';

test('the example of RFC 9562, appendix A.6', () => {
  const random = Uint8Array.from([
    0, 0, 0, 0, 0, 0, 0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f,
  ]);
  expect(uuid7(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

test('ids of later milliseconds sort later', () => {
  const random = new Uint8Array(16).fill(255);
  const ids = [1, 255, 256, 1_764_000_000_000, 1_764_000_000_001].map(now => uuid7(now, random));
  expect([...ids].sort()).toEqual(ids);
});

test('claims are read from a token, and other texts have none', () => {
  const token = (claimed: unknown) => `x.${Buffer.from(JSON.stringify(claimed)).toString('base64url')}.y`;
  expect(claims(token({ sub: 'Jürgen ☂', exp: 12.5 }))).toEqual({ sub: 'Jürgen ☂', exp: 12_500 });
  for (const bad of [
    '',
    'a',
    'a.b',
    'a.!!.c',
    token(null),
    token([]),
    token({ sub: 1, exp: '2' }),
    token({ sub: '' }),
  ]) {
    expect(claims(bad)).toEqual({});
  }
});
