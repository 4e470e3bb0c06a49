// Invite links of rooms: the commands, and the effects of the answers.

import { expect, test } from 'vitest';
import { direct, room } from '../src/client.ts';
import { Replica } from '../src/replica.ts';
import type { Ask, Unnumbered } from '../src/request.ts';
import { Rooms } from '../src/rooms.ts';
import { Views } from '../src/views.ts';
import type { Event } from '../src/wire.ts';

const KEY = room('r1');
const CODE = 'q5Zt0o1VYx7c_8mD-2KfLw';
const LINK = { code: CODE, by: 'ana', until: 1_000, used: 0 };
const INVITATION = {
  name: 'Bikers',
  kind: 'private',
  members: 3,
  by: { user: 'ana', name: 'Ana' },
  until: 1_000,
} as const;

/** A server that answers each request with this event. */
function answering(event: Event) {
  const asked: Unnumbered[] = [];
  const replica = new Replica();
  const ask = (request: Unnumbered) => {
    asked.push(request);
    replica.apply({ c: 'event', event, now: 0 });
    return Promise.resolve(event);
  };
  const views = new Views(
    replica,
    () => 0,
    () => 0,
  );
  return { asked, replica, invitations: new Rooms({ replica, views, ask: ask as Ask }) };
}

test('a link is made with or without a number of uses', async () => {
  const { asked, invitations } = answering({ t: 'link', re: 1, conversation: 'r1', ...LINK, uses: 10 });
  expect(await invitations.makeLink(KEY, 24, 10)).toEqual({ ...LINK, uses: 10 });
  await invitations.makeLink(KEY, 168);
  expect(asked).toEqual([
    { t: 'make_link', conversation: 'r1', hours: 24, uses: 10 },
    { t: 'make_link', conversation: 'r1', hours: 168 },
  ]);
});

test('links are listed, and the remaining ones after one was revoked', async () => {
  const { asked, invitations } = answering({ t: 'links', re: 1, conversation: 'r1', links: [LINK] });
  expect(await invitations.links(KEY)).toEqual([LINK]);
  expect(await invitations.takeBackLink(KEY, 'another')).toEqual([LINK]);
  expect(asked).toEqual([
    { t: 'links', conversation: 'r1' },
    { t: 'take_back_link', conversation: 'r1', code: 'another' },
  ]);
});

test('an invitation has the key of the room only for its members', async () => {
  const strange = answering({ t: 'invitation', re: 1, ...INVITATION });
  expect(await strange.invitations.openLink(CODE)).toEqual(INVITATION);
  expect(strange.asked).toEqual([{ t: 'open_link', code: CODE }]);
  const known = answering({ t: 'invitation', re: 1, ...INVITATION, conversation: 'r1' });
  expect(await known.invitations.openLink(CODE)).toEqual({ ...INVITATION, key: KEY });
});

test('after a join by a link the room is in the list', async () => {
  const conversation = {
    conversation: 'r1',
    room: { name: 'Bikers', kind: 'private', role: 'member', members: 4 },
    received: 0,
    read: 0,
    their_received: 0,
    their_read: 0,
    unread: 0,
    mentions: 0,
    muted_until: 0,
    pinned: false,
    archived: false,
    active: 1,
  } as const;
  const { asked, replica, invitations } = answering({
    t: 'conversation',
    re: 1,
    conversation,
    position: 'p1',
  });
  expect(await invitations.joinLink(CODE)).toBe(KEY);
  expect(asked).toEqual([{ t: 'join_link', code: CODE }]);
  expect(replica.known(KEY).room).toMatchObject({ role: 'member', members: 4 });
});

test('a direct conversation has no links, and no request is sent', async () => {
  const { asked, invitations } = answering({ t: 'links', re: 1, conversation: 'r1', links: [LINK] });
  await expect(invitations.links(direct('ben'))).rejects.toMatchObject({ code: 'no_such_conversation' });
  expect(asked).toEqual([]);
});
