import type { Message } from '@kith/client';
import { expect, test } from 'vitest';
import { merged } from './thread.tsx';

const message = (id: string, seq: number | undefined, body = 'x') =>
  ({ id, from: 'u1', body, ...(seq !== undefined && { seq }) }) as Message;

test('a thread has each reply once, as it is known last, and what is on its way at the end', () => {
  const pages = [message('a', 3), message('b', 5)];
  const live = [message('b', 5, 'edited'), message('d', undefined), message('c', 9)];
  const all = merged(pages, live);
  expect(all.map(one => one.id)).toEqual(['a', 'b', 'c', 'd']);
  expect(all[1]?.body).toBe('edited');
});
