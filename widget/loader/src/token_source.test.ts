import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTokenSource, type TokenSource } from './token_source.ts';

const TOKEN = 'aaa.bbb.ccc';
const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  vi.stubGlobal('fetch', fetched);
  fetched.mockReset();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('requests by POST with the own cookies, and never uses a cached answer', async () => {
  answer(200, JSON.stringify({ token: TOKEN }));
  expect(await source('/tok').next()).toBe(TOKEN);
  expect(fetched.mock.calls[0]).toMatchObject([
    '/tok',
    { method: 'POST', credentials: 'same-origin', cache: 'no-store', redirect: 'manual' },
  ]);
});

test('accepts plain text', async () => {
  answer(200, ` ${TOKEN}\n`);
  expect(await source('/tok').next()).toBe(TOKEN);
});

test.each([204, 401, 403, 404])('%i: nobody is signed in', async status => {
  answer(status, status === 204 ? null : 'sign in first');
  expect(await source('/tok').next()).toBeUndefined();
});

test('a redirect to a sign-in page: nobody is signed in', async () => {
  const redirect = new Response(null);
  Object.defineProperties(redirect, { type: { value: 'opaqueredirect' }, status: { value: 0 } });
  fetched.mockResolvedValue(redirect);
  expect(await source('/tok').next()).toBeUndefined();
});

test.each([
  [200, ''],
  [200, '{}'],
  [200, '{"token":null}'],
])('%i %s: nobody is signed in', async (status, body) => {
  answer(status, body);
  expect(await source('/tok').next()).toBeUndefined();
});

test.each([
  [500, 'oops'],
  [200, '<!doctype html><title>Sign in</title>'],
  [200, '{"token":"no jwt"}'],
  [200, '{"token":'],
  [200, `a.${'b'.repeat(20_000)}.c`],
])('%i %s: cannot be known now', async (status, body) => {
  answer(status, body);
  await expect(source('/tok').next()).rejects.toThrow();
});

test('a page that pushes tokens is asked for the next one', async () => {
  const wanted = vi.fn();
  const tokens = createTokenSource(undefined, wanted);
  expect(tokens.exists()).toBe(false);
  expect(await tokens.next()).toBeUndefined();
  tokens.push(TOKEN);
  expect(tokens.exists()).toBe(true);
  const next = tokens.next();
  expect(wanted).toHaveBeenCalledOnce();
  tokens.push('x.y.z');
  expect(await next).toBe('x.y.z');
});

test('a page that does not answer is not waited for longer than 20 s', async () => {
  vi.useFakeTimers();
  const tokens = createTokenSource(undefined, () => undefined);
  tokens.push(TOKEN);
  const next = tokens.next().catch(() => 'gave up');
  vi.advanceTimersByTime(20_000);
  expect(await next).toBe('gave up');
});

function source(url: string): TokenSource {
  return createTokenSource(url, () => undefined);
}

function answer(status: number, body: string | null): void {
  fetched.mockResolvedValue(new Response(body, { status }));
}
