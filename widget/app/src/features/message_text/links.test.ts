import { expect, test } from 'vitest';
import { addressAt } from './links.ts';

function check(body: string, links: string[]) {
  const found: string[] = [];
  for (let at = 0; at < body.length; at++) {
    const one = addressAt(body, at);
    if (one === undefined) continue;
    found.push(one.text);
    at += one.text.length - 1;
  }
  expect(found).toEqual(links);
}

test('text without an address contains no link', () => {
  check('hello, see example.com or file.txt', []);
  check('', []);
});

test('http and https addresses are found without the punctuation of the sentence', () => {
  check('See https://kith.example/a?b=c#d.', ['https://kith.example/a?b=c#d']);
  check('(http://a.example)', ['http://a.example']);
  check('https://en.example/wiki/A_(b), really!', ['https://en.example/wiki/A_(b)']);
  check('two: https://a.example https://b.example', ['https://a.example', 'https://b.example']);
});

test('addresses of other schemes are no links', () => {
  check('javascript:alert(1) data:text/html,x ftp://a.example JAVASCRIPT://a', []);
});

test('an address with a user name before the host is no link', () => {
  check('https://bank.example@evil.example/login', []);
  check('https://', []);
});

test('direction marks end an address', () => {
  check('https://a.example/\u202etxt.exe', ['https://a.example/']);
});

test('many closing brackets need no quadratic time', () => {
  const body = `https://a.example/${')'.repeat(20_000)}`;
  expect(addressAt(body, 0)?.text).toBe('https://a.example/');
});
