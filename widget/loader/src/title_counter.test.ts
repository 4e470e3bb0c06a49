// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTitleCounter, type TitleCounter } from './title_counter.ts';

let counter: TitleCounter;
beforeEach(() => {
  document.title = 'Forum';
  counter = createTitleCounter(document);
});
afterEach(() => counter.stop());

/** Observers are called after the running code. */
const observed = () => new Promise(resolve => setTimeout(resolve, 0));

test('the number is added and removed, and the title stays', () => {
  counter.set(3);
  expect(document.title).toBe('(3) Forum');
  counter.set(250);
  expect(document.title).toBe('(99+) Forum');
  counter.set(0);
  expect(document.title).toBe('Forum');
});

test('a page that changes its title keeps the number, and later gets its own title back', async () => {
  counter.set(1);
  document.title = 'Another thread';
  await observed();
  expect(document.title).toBe('(1) Another thread');
  document.title = `${document.title}!`;
  await observed();
  expect(document.title).toBe('(1) Another thread!');
  counter.stop();
  expect(document.title).toBe('Another thread!');
});

test('while nothing is unread the page may have any title, also one that looks like ours', async () => {
  document.title = '(2) Twins';
  counter.set(0);
  await observed();
  expect(document.title).toBe('(2) Twins');
  counter.set(5);
  expect(document.title).toBe('(5) (2) Twins');
  counter.set(0);
  expect(document.title).toBe('(2) Twins');
});

test('a page that restores its own title again and again gets it, and is not blocked', async () => {
  counter.set(3);
  const insists = new MutationObserver(() => {
    if (document.title !== 'Mine') document.title = 'Mine';
  });
  insists.observe(document.head, { childList: true, subtree: true, characterData: true });
  document.title = 'Mine';
  for (let turn = 0; turn < 30; turn++) await observed();
  expect(document.title).toBe('Mine');
  insists.disconnect();
});
