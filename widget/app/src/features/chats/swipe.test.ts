// @vitest-environment happy-dom

import type { ConversationKey } from '@kith/client';
import { expect, test } from 'vitest';
import { swipes } from './swipe.tsx';

function list() {
  document.body.innerHTML = '<div><div class="chat-row" data-chat="@ana"><button>Ana</button></div></div>';
  const element = document.body.firstElementChild as HTMLElement;
  const row = element.firstElementChild as HTMLElement;
  const done: string[] = [];
  const item = (text: string, key: ConversationKey) =>
    ({ icon: 'check', text, run: () => void done.push(`${text} ${key}`) }) as const;
  const leave = swipes(element, key => ({ end: item('read', key), start: item('archive', key) }));
  const finger = (kind: string, x: number, y = 0, pointerType = 'touch') =>
    row.dispatchEvent(
      new PointerEvent(`pointer${kind}`, {
        bubbles: true,
        clientX: x,
        clientY: y,
        pointerType,
        isPrimary: true,
      }),
    );
  return { row, done, finger, leave };
}

test('a long swipe runs its action, and the row moves back', () => {
  const { row, done, finger } = list();
  finger('down', 0);
  finger('move', 50);
  expect([row.dataset.swipe, row.classList.contains('is-far')]).toEqual(['read', false]);
  finger('move', 90);
  expect(row.classList.contains('is-far')).toBe(true);
  finger('up', 90);
  expect([done, row.dataset.swipe]).toEqual([['read @ana'], undefined]);
  finger('down', 200);
  finger('move', 100);
  finger('up', 100);
  expect(done).toEqual(['read @ana', 'archive @ana']);
});

test('short swipes, scrolling, a mouse and a cancelled gesture run no action', () => {
  const { done, finger } = list();
  finger('down', 0);
  finger('move', 60);
  finger('up', 60);
  finger('down', 0);
  finger('move', 4, 40);
  finger('move', 200, 40);
  finger('up', 200);
  finger('down', 0, 0, 'mouse');
  finger('move', 200, 0, 'mouse');
  finger('up', 200, 0, 'mouse');
  finger('down', 0);
  finger('move', 200);
  finger('cancel', 200);
  finger('up', 200);
  expect(done).toEqual([]);
});

test('after the cleanup, a swipe runs no action', () => {
  const { done, finger, leave } = list();
  leave();
  finger('down', 0);
  finger('move', 200);
  finger('up', 200);
  expect(done).toEqual([]);
});
