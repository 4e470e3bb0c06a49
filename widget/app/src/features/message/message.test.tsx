// @vitest-environment happy-dom

import { direct, type KnownPerson, type Message } from '@kith/client';
import { beforeAll, expect, test } from 'vitest';
import { Drawing, NOW, WORDING } from '../../../test/draw.ts';
import { plain } from '../../../test/plain.ts';
import { fetchPart, type Part } from '../../ui/lazy/lazy.tsx';
import { collapsedPart, failedPart, MessageView, reactionsPart } from './message.tsx';
import type { MessageActions } from './message_menu.ts';

beforeAll(() =>
  Promise.all(
    [failedPart, reactionsPart, collapsedPart].map(part => fetchPart(part as Part<never>, WORDING)),
  ),
);

function drawn(
  message: { [K in keyof Message]?: Message[K] | undefined },
  more: {
    linksInert?: boolean;
    sayState?: boolean;
    keepsOrder?: boolean;
    readOnly?: boolean;
    sender?: KnownPerson;
  } = {},
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
  const done: string[] = [];
  const actions: MessageActions = {
    conversation: direct('ana'),
    reply: one => replies.push(one),
    edit: one => done.push(`edit ${one.id}`),
    remove: one => done.push(`remove ${one.id}`),
    react: (one, reaction, on) => done.push(`react ${one.id} ${reaction} ${on}`),
    showOriginal: seq => done.push(`original ${seq}`),
    mayRemove: () => more.keepsOrder ?? false,
    pin: (one, on) => done.push(`pin ${one.id} ${on}`),
    mayPin: more.keepsOrder ?? false,
    openThread: () => undefined,
    hasThreads: false,
    readOnly: more.readOnly ?? false,
    veiled: false,
  };
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
      sender={more.sender}
      actions={actions}
      onFocus={() => undefined}
    />,
  );
  return { drawing, replies, done };
}

test('markup in a message is shown as text', () => {
  const { drawing } = drawn({ body: '<img src=x onerror=alert(1)> <b>bold</b>' });
  expect(drawing.find('.body-text').textContent).toBe('<img src=x onerror=alert(1)> <b>bold</b>');
  expect(drawing.has('.body-text img, .body-text b')).toBe(false);
});

test('an address is a link with noopener, and plain text if the author is a stranger', () => {
  const body = 'see https://a.example/x';
  const link = drawn({ body }).drawing.find<HTMLAnchorElement>('a');
  expect([link.getAttribute('href'), link.target]).toEqual(['https://a.example/x', '_blank']);
  expect(link.rel).toContain('noopener');
  const strange = drawn({ body }, { linksInert: true }).drawing;
  expect(strange.has('a')).toBe(false);
  expect(strange.text()).toContain(body);
});

test('each delivery state of an own message has a text', () => {
  for (const [state, words] of [
    ['sending', 'Sending'],
    ['sent', 'Sent'],
    ['received', 'Delivered'],
    ['read', 'Read'],
    ['failed', 'Not sent'],
  ] as const) {
    expect(drawn({ mine: true, state }).drawing.find('.state .hidden-text').textContent).toBe(words);
  }
  expect(drawn({ mine: false }).drawing.has('.state')).toBe(false);
});

test('a failed message shows the reason, and a retry keeps its id', async () => {
  const { drawing } = drawn({ id: 'm-7', mine: true, state: 'failed', code: 'frozen' });
  expect(drawing.text()).toContain('This room is paused.');
  drawing.do(() => drawing.button('Retry').click());
  drawing.do(() => drawing.button('Discard').click());
  expect(drawing.client.calls).toEqual(['retry m-7', 'discard m-7']);
});

test('Enter opens the menu of a message', async () => {
  const { drawing, replies } = drawn({ body: 'hi' });
  drawing.press(drawing.find('article'), 'Enter');
  const { items } = await drawing.shownMenu();
  expect(items.map(item => item.text)).toEqual(['Reply', 'Copy text', 'Copy link', 'Forward', 'Report']);
  items[0]?.run();
  expect(replies.map(one => one.id)).toEqual(['m1']);
});

test('a message that is not sent yet has no Reply button', () => {
  const near = (drawing: Drawing) =>
    drawing.do(() => void drawing.find('article').dispatchEvent(new Event('pointerenter')));
  const { drawing: sent } = drawn({ mine: true, state: 'sent' });
  expect(sent.has('[aria-label=Reply]')).toBe(false);
  near(sent);
  expect(sent.has('[aria-label=Reply]')).toBe(true);
  const queued = drawn({ mine: true, state: 'sending', seq: undefined }, { sayState: true }).drawing;
  near(queued);
  expect(queued.has('[aria-label=Reply]')).toBe(false);
  expect(queued.text()).toContain('Sending');
});

test('the actions of a message depend on its author', async () => {
  const items = async (...args: Parameters<typeof drawn>) => {
    const { drawing } = drawn(...args);
    drawing.press(drawing.find('article'), 'Enter');
    return (await drawing.shownMenu()).items.map(item => item.text);
  };
  expect(await items({ mine: true })).toEqual([
    'Reply',
    'Copy text',
    'Copy link',
    'Forward',
    'Edit',
    'Delete',
  ]);
  expect(await items({ mine: false, replyTo: 3 })).toEqual([
    'Reply',
    'Show the original message',
    'Copy text',
    'Copy link',
    'Forward',
    'Report',
  ]);
  expect(await items({ mine: false }, { keepsOrder: true })).toEqual([
    'Reply',
    'Copy text',
    'Copy link',
    'Forward',
    'Pin for everyone',
    'Delete',
    'Report',
  ]);
  expect(await items({ mine: false }, { readOnly: true })).toEqual([
    'Copy text',
    'Copy link',
    'Forward',
    'Report',
  ]);
  expect(await items({ mine: true, deleted: true, body: '' })).toEqual([]);
  expect(await items({ mine: true, opaque: true, body: '' })).toEqual(['Reply', 'Copy link', 'Delete']);
  expect(await items({ mine: true, seq: undefined, state: 'failed' })).toEqual([
    'Copy text',
    'Retry',
    'Discard',
  ]);
});

test('a final refusal offers Copy text and no Retry', async () => {
  const failed = (code: NonNullable<Message['code']>) =>
    drawn({ mine: true, seq: undefined, state: 'failed', code }).drawing;
  for (const code of [
    'not_allowed',
    'room_banned',
    'too_large',
    'bad_body',
    'filtered',
    'no_such_user',
  ] as const) {
    const drawing = failed(code);
    expect([code, drawing.text()]).toEqual([code, expect.not.stringContaining('Retry')]);
    expect(drawing.text()).toContain('Copy text');
    drawing.press(drawing.find('article'), 'Enter');
    expect((await drawing.shownMenu()).items.map(item => item.text)).toEqual(['Copy text', 'Discard']);
    drawing.do(() => drawing.button('Discard').click());
    expect(drawing.client.calls).toEqual(['discard m1']);
  }
  for (const code of ['muted', 'frozen', 'rate_limited', 'slow_mode', 'request_pending'] as const) {
    expect([code, failed(code).text()]).toEqual([code, expect.stringContaining('Retry')]);
  }
});

test('the menu, the chips and the emoji picker add and remove reactions', async () => {
  const reactions = [
    { reaction: '👍', count: 2, users: ['me', 'u3'], mine: true },
    { reaction: '🎉', count: 1, users: ['u3'], mine: false },
  ];
  const { drawing, done } = drawn({ reactions });
  drawing.press(drawing.find('article'), 'Enter');
  const quick = (await drawing.shownMenu()).quick?.items ?? [];
  expect(quick.map(one => [one.text, one.on])).toContainEqual(['👍', true]);
  quick[0]?.run();
  quick[1]?.run();
  quick.at(-1)?.run();
  drawing.picking?.onPick('🦊');
  const [thumbs, tada] = Array.from(drawing.root.querySelectorAll<HTMLElement>('.reaction'));
  expect([thumbs?.getAttribute('aria-pressed'), tada?.getAttribute('aria-pressed')]).toEqual([
    'true',
    'false',
  ]);
  expect(plain(thumbs?.getAttribute('aria-label') ?? '')).toBe('👍 from 2 people');
  drawing.do(() => thumbs?.click());
  drawing.do(() => tada?.click());
  expect(done).toEqual([
    'react m1 👍 false',
    'react m1 ❤️ true',
    'react m1 🦊 true',
    'react m1 👍 false',
    'react m1 🎉 true',
  ]);
});

test('an edited message is marked, and a deleted one has a placeholder', () => {
  expect(drawn({ edited: NOW }).drawing.find('.meta').textContent).toContain('edited');
  const { drawing } = drawn({ deleted: true, body: '', mine: true, state: 'read' });
  expect(drawing.find('.bubble').textContent).toContain('Message deleted');
  expect(drawing.has('.state')).toBe(false);
});

test('a message of another app without a text has a placeholder', () => {
  const { drawing } = drawn({ opaque: true, body: '', mine: true, state: 'read' });
  expect(drawing.find('.bubble').textContent).toContain('Sent from another app. It cannot be shown here.');
  expect(drawing.find('.message').classList.contains('is-opaque')).toBe(true);
  expect(drawing.find('.state').dataset.state).toBe('read');
});

test('a message with a pending change shows "Sending"', () => {
  expect(drawn({ changing: true }).drawing.find('.state .hidden-text').textContent).toBe('Sending');
});

test('a right click opens the menu of the message, and on a link the menu of the browser', async () => {
  const { drawing } = drawn({ body: 'see https://kith.example/' });
  const click = (on: Element) => {
    const event = new MouseEvent('contextmenu', { bubbles: true, cancelable: true });
    drawing.do(() => void on.dispatchEvent(event));
    return event.defaultPrevented;
  };
  expect(click(drawing.find('.bubble a'))).toBe(false);
  expect(drawing.menu).toBeUndefined();
  expect(click(drawing.find('.bubble'))).toBe(true);
  expect((await drawing.shownMenu()).items.map(item => item.text)).toContain('Reply');
});

test('a message of a blocked user is collapsed until the member shows it or unblocks the user', () => {
  const sender = { user: 'u1', name: 'Tom Costa', guest: false };
  const { drawing } = drawn({ body: 'Words' }, { sender });
  expect(drawing.text()).toContain('Words');
  const { client } = drawing;
  client.contact = () => 'blocked';
  drawing.do(() => client.change('contacts'));
  expect(drawing.text()).toContain('Message from somebody you blocked');
  expect(drawing.text()).not.toContain('Words');
  drawing.do(() => drawing.button('Show message').click());
  expect(drawing.text()).toContain('Words');
  client.contact = () => 'none';
  drawing.do(() => client.change('contacts'));
  expect(drawing.text()).toContain('Words');
});
