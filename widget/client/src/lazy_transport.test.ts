import { expect, test } from 'vitest';
import { settle } from '../test/clock.ts';
import type { LinkListener, OpenLink } from './environment.ts';
import { lazyTransport } from './lazy_transport.ts';

function scene() {
  const did: string[] = [];
  const listener: LinkListener = { event: () => undefined, closed: () => did.push('closed') };
  const open: OpenLink = hello => {
    did.push(`open ${hello}`);
    return { send: frame => did.push(`send ${frame}`), close: () => did.push('close') };
  };
  return { did, listener, open };
}

test('frames that are sent before the code is fetched are sent afterwards, in order', async () => {
  const { did, listener, open } = scene();
  const link = lazyTransport(() => Promise.resolve(open))('hello', listener);
  link.send('a');
  await settle();
  link.send('b');
  link.close();
  expect(did).toEqual(['open hello', 'send a', 'send b', 'close']);
});

test('a link that was closed before the code is fetched is never opened', async () => {
  const { did, listener, open } = scene();
  lazyTransport(() => Promise.resolve(open))('hello', listener).close();
  await settle();
  expect(did).toEqual([]);
});

test('a transport that cannot be fetched counts as a failed one', async () => {
  const { did, listener } = scene();
  lazyTransport(() => Promise.reject(new Error('404')))('hello', listener);
  await settle();
  expect(did).toEqual(['closed']);
});
