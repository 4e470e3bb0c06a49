// @vitest-environment happy-dom

import { room } from '@kith/client';
import { beforeAll, expect, test } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { RequestBar, words } from './request_bar.tsx';

beforeAll(() => words.fetch(WORDING));

test('a room invitation shows the inviter, and can be accepted, declined or blocked', () => {
  const drawing = new Drawing();
  const { client } = drawing;
  const key = room('8000000000000001');
  const chat = client.conversation(key);
  drawing.draw(
    <RequestBar
      conversation={{
        ...chat,
        with: { user: key, name: 'Bikers', guest: false },
        request: 'received',
        requestedBy: 'u1',
      }}
      onGone={undefined}
    />,
  );
  // Each name has a writing direction of its own, independent of the sentence.
  expect(drawing.root.textContent).toContain('\u2068Tom Costa\u2069 invites you to “\u2068Bikers\u2069”');
  drawing.do(() => drawing.button('Decline').click());
  drawing.do(() => drawing.button('Accept').click());
  expect(client.calls).toEqual([`answerRequest ${key} dismiss`, `answerRequest ${key} accept`]);
  drawing.do(() => drawing.button('Block').click());
  expect(drawing.question?.title).toBe('Block Tom Costa?');
});
