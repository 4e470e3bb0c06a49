import { expect, test } from 'vitest';
import { addressOf, codeIn } from './invite_url.ts';

const CODE = 'q5Zt0o1VYx7c_8mD-2KfLw';

test('an address on any page contains its code', () => {
  const address = addressOf('https://forum.example/thread/42?page=2#post-7', CODE);
  expect(address).toBe(`https://forum.example/thread/42?page=2#kith=join.${CODE}`);
  expect(codeIn(new URL(address).hash)).toBe(CODE);
});

test('an invalid fragment contains no code', () => {
  for (const hash of [
    '',
    '#kith=join.',
    `#kith=${CODE}`,
    `#kith=join.${CODE}a`,
    `#kith=join.${CODE.slice(1)}`,
    `#kith=join.${CODE.slice(1)}%`,
    `#kith=join.<b>${CODE.slice(3)}`,
    `#kith=join.${CODE}.1`,
    `#kith=JOIN.${CODE}`,
  ]) {
    expect(codeIn(hash), hash).toBeUndefined();
  }
});
