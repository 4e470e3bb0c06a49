// @vitest-environment happy-dom

import { type Invited, room } from '@kith/client';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Drawing, NOW, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { InviteCard } from './invite_card.tsx';
import { InviteLinkList } from './invite_link_list.tsx';
import { INVITES } from './invite_url.ts';
import { WAITING } from './pending_invite.ts';

beforeAll(() => Promise.all([lateWords.fetch(WORDING), lateWords.fetch(WORDING)]));
afterEach(() => vi.unstubAllGlobals());

const CODE = 'q5Zt0o1VYx7c_8mD-2KfLw';
const HASH = `${INVITES}${CODE}`;
const ROOM = room('r0');
const INVITED: Invited = {
  name: 'Committee',
  kind: 'private',
  topic: 'The five of us',
  members: 5,
  by: { user: 'u3', name: 'Kwame Weber' },
  until: NOW + 86_400_000,
};

function card(invited: Invited | 'bad_invitation' | 'room_banned', hash = HASH) {
  const drawing = new Drawing({ rooms: 3 });
  drawing.client.invited = invited;
  const done = vi.fn();
  drawing.draw(<InviteCard hash={hash} onDone={done} />);
  return { drawing, done };
}

const shows = (drawing: Drawing, text: string) => vi.waitFor(() => expect(drawing.text()).toContain(text));

test('the card shows the room, the inviter and the end; joining opens the room', async () => {
  const { drawing, done } = card(INVITED);
  await shows(drawing, 'Committee');
  for (const text of ['Private room', '5 members', 'The five of us', 'Kwame Weber invited you', '13 March'])
    expect(drawing.text()).toContain(text);
  drawing.do(() => drawing.button('Join').click());
  await vi.waitFor(() => expect(drawing.opened).toEqual([room('r5')]));
  expect(done).toHaveBeenCalledOnce();
  expect(drawing.said).toEqual(['You joined the room']);
  expect(drawing.client.calls).toEqual([`look at ${CODE}`, `join by ${CODE}`]);
});

test('"Not now" closes the card without joining', async () => {
  const { drawing, done } = card(INVITED);
  await shows(drawing, 'Committee');
  drawing.do(() => drawing.button('Not now').click());
  expect([done.mock.calls.length, drawing.opened, drawing.client.calls]).toEqual([
    1,
    [],
    [`look at ${CODE}`],
  ]);
});

test('the room opens at once for a user who is a member already', async () => {
  const { drawing, done } = card({ ...INVITED, key: ROOM });
  await vi.waitFor(() => expect(drawing.opened).toEqual([ROOM]));
  expect([done.mock.calls.length, drawing.has('.sheet')]).toEqual([1, false]);
});

test('an old invitation and an invalid code ask for a new link', async () => {
  const { drawing } = card('bad_invitation');
  await shows(drawing, 'This invitation is no longer valid');
  expect(drawing.text()).toContain('Ask for a new link');
  const none = card(INVITED, `${INVITES}short`).drawing;
  await shows(none, 'This invitation is no longer valid');
  expect(none.client.calls).toEqual([]);
});

test('the card shows the reason of a refusal, and that an invitation is no longer valid', async () => {
  await shows(card('room_banned').drawing, 'You are banned from this room.');
  const { drawing } = card(INVITED);
  await shows(drawing, 'Committee');
  drawing.client.invited = 'room_full';
  drawing.do(() => drawing.button('Join').click());
  await shows(drawing, 'This room is full.');
  expect(drawing.text()).toContain('Committee');
  drawing.client.invited = 'bad_invitation';
  drawing.do(() => drawing.button('Join').click());
  await shows(drawing, 'This invitation is no longer valid');
  expect(drawing.text()).not.toContain('Committee');
});

test('the card asks a visitor to sign in, and shows a missing connection', async () => {
  for (const [code, text] of [
    ['no_guests', 'Sign in to this site to open the invitation.'],
    [undefined, 'You are offline'],
  ] as const) {
    const drawing = new Drawing();
    drawing.client.state = { state: 'stopped', shared: false, ...(code && { code }) };
    drawing.draw(<InviteCard hash={HASH} onDone={vi.fn()} />);
    await shows(drawing, text);
    expect(drawing.client.calls).toEqual([]);
    expect(sessionStorage.getItem(WAITING)).toBe(code ? HASH : null);
    sessionStorage.clear();
  }
});

test('the invitation appears after a visitor signs in on the same page', async () => {
  const drawing = new Drawing();
  drawing.client.invited = INVITED;
  drawing.client.state = { state: 'stopped', shared: false, code: 'no_guests' };
  drawing.draw(<InviteCard hash={HASH} onDone={vi.fn()} />);
  await shows(drawing, 'Sign in to this site');
  drawing.do(() => {
    drawing.client.state = { state: 'online', transport: 'websocket', shared: false };
    drawing.client.change('status');
  });
  await shows(drawing, 'Committee');
  sessionStorage.clear();
});

function links(invited: Invited | 'too_many_invitations' | 'not_allowed' = INVITED) {
  const drawing = new Drawing({ rooms: 3 });
  drawing.client.invited = invited;
  drawing.client.links = [{ code: CODE, by: 'u3', until: NOW + 3_600_000, uses: 10, used: 3 }];
  drawing.draw(<InviteLinkList conversation={drawing.client.conversation(ROOM)} />);
  return drawing;
}

function choose(drawing: Drawing, at: number, value: string) {
  const select = drawing.root.querySelectorAll('select')[at] as HTMLSelectElement;
  drawing.do(() => {
    select.value = value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

test('a new link is valid for a week and for everyone by default, or as the member chooses', async () => {
  const drawing = links();
  await shows(drawing, '3 of 10 joined');
  drawing.do(() => drawing.button('Create link').click());
  await shows(drawing, 'not used yet');
  expect(drawing.client.calls).toEqual([`make link ${ROOM} 168`]);
  expect(drawing.said).toEqual(['Link created.']);
  expect(document.activeElement).toBe(drawing.button('Copy link'));
  const [made, old] = Array.from(drawing.root.querySelectorAll('input'), one => one.value);
  expect(made).toBe(`${location.href.split('#')[0]}${INVITES}${drawing.client.links[0]?.code}`);
  expect(old).toContain(HASH);
  choose(drawing, 0, '1');
  choose(drawing, 1, '100');
  drawing.do(() => drawing.button('Create link').click());
  await vi.waitFor(() => expect(drawing.client.calls.at(-1)).toBe(`make link ${ROOM} 24 100`));
});

test('the copy button copies the link, or selects it if the browser has no clipboard', async () => {
  const written: string[] = [];
  const clipboard = { writeText: async (text: string) => void written.push(text) };
  vi.stubGlobal('navigator', { clipboard });
  const drawing = links();
  await shows(drawing, 'Created by Kwame');
  drawing.do(() => drawing.button('Copy link').click());
  await vi.waitFor(() => expect(drawing.said).toEqual(['Link copied']));
  expect(written[0]).toContain(HASH);
  expect(drawing.button('Link copied')).toBeDefined();
  vi.stubGlobal('navigator', {});
  drawing.do(() => drawing.button('Link copied').click());
  await vi.waitFor(() => expect(drawing.said).toHaveLength(2));
  const field = drawing.find<HTMLInputElement>('.invitation-line input');
  expect([field.selectionStart, field.selectionEnd]).toEqual([0, field.value.length]);
});

test('a link can be shared if the browser supports it', async () => {
  const shared: ShareData[] = [];
  vi.stubGlobal('navigator', { share: async (what: ShareData) => void shared.push(what) });
  const drawing = links();
  await shows(drawing, 'Created by Kwame');
  drawing.do(() => drawing.button('Share link').click());
  expect(shared).toMatchObject([{ title: 'Bikers', url: expect.stringContaining(HASH) }]);
});

test('revoking a link asks for confirmation, and moves the focus to the title of the list', async () => {
  const drawing = links();
  await shows(drawing, 'Created by Kwame');
  drawing.do(() => drawing.button('Revoke').click());
  expect(drawing.question?.title).toBe('Revoke this link?');
  expect(drawing.client.calls).toEqual([]);
  drawing.do(() => drawing.question?.onYes());
  await shows(drawing, 'No active links.');
  expect(drawing.client.calls).toEqual([`take back ${ROOM} ${CODE}`]);
  expect(document.activeElement?.textContent).toBe('Active links');
});

test('the form shows why the server refused a new link', async () => {
  for (const [code, text] of [
    ['too_many_invitations', 'This room has reached the maximum number of links. Revoke one first.'],
    ['not_allowed', 'Only owners and moderators can create links here.'],
  ] as const) {
    const drawing = links(code);
    await shows(drawing, 'Created by Kwame');
    drawing.do(() => drawing.button('Create link').click());
    await shows(drawing, text);
  }
});
