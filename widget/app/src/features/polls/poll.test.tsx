// @vitest-environment happy-dom

import { direct, type Message, type Poll } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, NOW, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import type { MessageActions } from '../message/message_menu.ts';
import { Above, Below } from '../message_extras/message_extras.tsx';
import { PollForm } from './poll_form.tsx';

beforeAll(() => lateWords.fetch(WORDING));

const KEY = direct('u3');
const DEEDS = {
  conversation: KEY,
  readOnly: false,
  openThread: () => undefined,
} as unknown as MessageActions;

function drawn(poll: Partial<Poll>, actions: Partial<MessageActions> = {}) {
  const choices = [
    { text: 'Lake', votes: 1, users: ['u1'] },
    { text: 'Town', votes: 3, users: ['u2', 'u3', 'me'], mine: true },
  ];
  const message = {
    id: 'p-1',
    seq: 4,
    from: 'u3',
    mine: false,
    body: 'Where?',
    time: NOW,
    state: 'received',
    poll: { choices, voters: 4, ...poll },
  } as Message;
  return new Drawing().draw(<Below message={message} actions={{ ...DEEDS, ...actions }} />);
}

test('a click votes, and a second click takes the vote back', async () => {
  const drawing = drawn({});
  const [lake, town] = [drawing.button('Lake 25 % 1 vote'), drawing.button('Town 75 % 3 votes')];
  expect([lake, town].map(one => one.getAttribute('aria-pressed'))).toEqual(['false', 'true']);
  expect(drawing.find('.poll-note').textContent).toBe('4 votes');
  drawing.do(() => lake.click());
  await vi.waitFor(() => expect(drawing.client.calls).toContain(`vote ${KEY} 4 0`));
  await vi.waitFor(() => expect(town.getAttribute('aria-disabled')).toBe('false'));
  drawing.do(() => town.click());
  await vi.waitFor(() => expect(drawing.client.calls).toContain(`vote ${KEY} 4 `));
});

test('in a poll with multiple answers a click adds a vote', async () => {
  const drawing = drawn({ multiple: true, anonymous: true });
  expect(drawing.find('.poll-note').textContent).toBe('4 people voted · multiple answers · anonymous');
  drawing.do(() => drawing.button('Lake 25 % 1 vote').click());
  await vi.waitFor(() => expect(drawing.client.calls).toContain(`vote ${KEY} 4 1,0`));
});

test('votes are disabled in a closed poll and for members who may not write', () => {
  for (const drawing of [drawn({ closed: true }), drawn({ ends: 5 }), drawn({}, { readOnly: true })]) {
    const lake = drawing.button('Lake 25 % 1 vote');
    expect(lake.getAttribute('aria-disabled')).toBe('true');
    drawing.do(() => lake.click());
    expect(drawing.client.calls.some(one => one.startsWith('vote'))).toBe(false);
  }
  expect(drawn({ closed: true }).find('.poll-note').textContent).toBe('4 votes · closed');
});

test('the form posts the question and the choices of a poll', async () => {
  const drawing = new Drawing();
  const closed = vi.fn();
  drawing.draw(<PollForm conversation={KEY} onClose={closed} />);
  const [first, second] = drawing.root.querySelectorAll<HTMLInputElement>('.poll-line input');
  const post = drawing.button('Post poll') as HTMLButtonElement;
  expect(post.disabled).toBe(true);
  drawing.type(drawing.find<HTMLTextAreaElement>('textarea'), 'Where?');
  drawing.type(first as HTMLInputElement, 'Lake');
  drawing.type(second as HTMLInputElement, 'Lake');
  expect(drawing.find('[role=alert]').textContent).toBe('Two choices are the same.');
  drawing.type(second as HTMLInputElement, ' Town ');
  expect(post.disabled).toBe(false);
  drawing.do(() => post.click());
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  expect(drawing.client.calls).toContain(`poll ${KEY} Where?: Lake, Town`);
});

test('a message shows its origin and its thread', () => {
  const opened: number[] = [];
  const actions = { ...DEEDS, openThread: (root: number) => opened.push(root) } as unknown as MessageActions;
  const base = {
    id: 'a',
    seq: 7,
    from: 'u1',
    mine: false,
    body: 'x',
    time: NOW,
    state: 'received',
  } as Message;
  const from = (forwarded: Message['forwarded']) =>
    new Drawing()
      .draw(<Above message={{ ...base, ...(forwarded && { forwarded }) }} actions={actions} />)
      .text();
  expect(from({})).toBe('Forwarded');
  expect(from({ from: 'u2' })).toMatch(/^Forwarded from \S+/);
  const reply = new Drawing().draw(<Above message={{ ...base, thread: 3 }} actions={actions} />);
  reply.do(() => reply.button('In a thread').click());
  const root = { ...base, replies: { count: 4, last: NOW } };
  const below = new Drawing().draw(<Below message={root} actions={actions} />);
  expect(below.text()).toContain('4 replies');
  below.do(() => below.find('.rich-replies').click());
  expect(opened).toEqual([3, 7]);
});
