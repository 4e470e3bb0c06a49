// @vitest-environment happy-dom

import type { Message } from '@kith/client';
import { expect, test } from 'vitest';
import { Drawing, NOW } from '../../test/draw.ts';
import { MessageView } from './message.tsx';

function drawn(
  message: { [K in keyof Message]?: Message[K] | undefined },
  more: { linksInert?: boolean; sayState?: boolean } = {},
) {
  const whole = {
    id: 'm1',
    seq: 1,
    from: 'u1',
    mine: false,
    body: 'hi',
    time: NOW,
    state: 'received',
    ...message,
  } as Message;
  const replies: Message[] = [];
  const drawing = new Drawing().draw(
    <MessageView
      message={whole}
      name="Ana"
      quoted={undefined}
      first
      last
      sayState={more.sayState ?? false}
      linksInert={more.linksInert ?? false}
      tabIndex={0}
      onReply={one => replies.push(one)}
      onFocus={() => undefined}
      onQuote={() => undefined}
    />,
  );
  return { drawing, replies };
}

test('markup in a message is text', () => {
  const { drawing } = drawn({ body: '<img src=x onerror=alert(1)> <b>bold</b>' });
  expect(drawing.find('.body-text').textContent).toBe('<img src=x onerror=alert(1)> <b>bold</b>');
  expect(drawing.has('.body-text img, .body-text b')).toBe(false);
});

test('an address is a link that gives nothing away, from a stranger it is text', () => {
  const body = 'see https://a.example/x';
  const link = drawn({ body }).drawing.find<HTMLAnchorElement>('a');
  expect([link.getAttribute('href'), link.target]).toEqual(['https://a.example/x', '_blank']);
  expect(link.rel).toContain('noopener');
  const strange = drawn({ body }, { linksInert: true }).drawing;
  expect(strange.has('a')).toBe(false);
  expect(strange.text()).toContain(body);
});

test('each state of an own message is told in words', () => {
  for (const [state, words] of [
    ['sending', 'Sending'],
    ['sent', 'Sent'],
    ['received', 'Received'],
    ['read', 'Read'],
    ['failed', 'Not sent'],
  ] as const) {
    expect(drawn({ mine: true, state }).drawing.find('.state .hidden-text').textContent).toBe(words);
  }
  expect(drawn({ mine: false }).drawing.has('.state')).toBe(false);
});

test('a message that failed says why, and is tried again with the same id', () => {
  const { drawing } = drawn({ id: 'm-7', mine: true, state: 'failed', code: 'not_allowed' });
  expect(drawing.text()).toContain('You cannot write to this person.');
  drawing.do(() => drawing.button('Retry').click());
  drawing.do(() => drawing.button('Discard').click());
  expect(drawing.client.calls).toEqual(['retry m-7', 'discard m-7']);
});

test('Enter opens what can be done with it', () => {
  const { drawing, replies } = drawn({ body: 'hi' });
  drawing.press(drawing.find('article'), 'Enter');
  expect(drawing.menu?.items.map(item => item.text)).toEqual(['Reply', 'Copy text']);
  drawing.menu?.items[0]?.run();
  expect(replies.map(one => one.id)).toEqual(['m1']);
});

test('what is not on the server yet cannot be answered', () => {
  expect(drawn({ mine: true, state: 'sent' }).drawing.has('[aria-label=Reply]')).toBe(true);
  const queued = drawn({ mine: true, state: 'sending', seq: undefined }, { sayState: true }).drawing;
  expect(queued.has('[aria-label=Reply]')).toBe(false);
  expect(queued.text()).toContain('Sending');
});
