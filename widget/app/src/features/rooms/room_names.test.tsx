// @vitest-environment happy-dom

import { type Answer, type Ask, type Conversation, type KnownPerson, RequestError, room } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { AppContext, useAppContext, useTopic } from '../../app_context.tsx';
import { lateWords } from '../../wording/late_words.ts';
import { NicknameSheet } from './nickname_sheet.tsx';
import { useRoomNames } from './room_names.ts';

beforeAll(() => lateWords.fetch(WORDING));

const KEY = room('r0');
const USERS = ['u3', 'u5', 'u7'];

/** A drawing of the names of three members, and the requests for nicknames. */
function named(nicknames: Record<string, string>, version: number | undefined) {
  const drawing = new Drawing({ rooms: 2 });
  const asked: string[][] = [];
  drawing.client.ask = (async request => {
    if (request.t !== 'nicknames') throw new RequestError('not_allowed');
    asked.push(request.users);
    const names = request.users.flatMap(user => {
      const nickname = nicknames[user];
      return nickname === undefined ? [] : [{ user, nickname }];
    });
    return { t: 'nicknames', re: 0, names } satisfies Answer<'nicknames'>;
  }) as Ask;
  const conversation = (number: number | undefined): Conversation => {
    const known = drawing.client.conversation(KEY);
    const role = 'member' as const;
    return { ...known, room: { ...known.room, role, ...(number && { nicknames: number }) } as never };
  };
  const draw = (number: number | undefined) => drawing.draw(<Names of={conversation(number)} />);
  draw(version);
  return { drawing, asked, draw };
}

function Names({ of }: { of: Conversation }) {
  const plain = useAppContext();
  return (
    <AppContext.Provider value={useRoomNames(of) ?? plain}>
      {USERS.map(user => (
        <Name key={user} user={user} />
      ))}
    </AppContext.Provider>
  );
}

function Name({ user }: { user: string }) {
  const person = useTopic(`person:${user}`, one => one.person(user));
  return <p title={person.displayName}>{person.name}</p>;
}

const shown = (drawing: Drawing) => Array.from(drawing.root.querySelectorAll('p'), one => one.textContent);

test('nicknames replace display names, and one request asks for all of them', async () => {
  const { drawing, asked } = named({ u3: 'Boss' }, 7);
  await vi.waitFor(() => expect(shown(drawing)[0]).toBe('Boss'));
  const { name } = drawing.client.person('u3');
  expect(drawing.find('p').title).toBe(name);
  expect(shown(drawing).slice(1)).toEqual(USERS.slice(1).map(user => drawing.client.person(user).name));
  expect(asked).toEqual([USERS]);
});

test('a room without nicknames causes no request', async () => {
  const { drawing, asked } = named({ u3: 'Boss' }, undefined);
  await Promise.resolve();
  expect([asked, shown(drawing)[0]]).toEqual([[], drawing.client.person('u3').name]);
});

test('after a change of a nickname the known ones are asked for again', async () => {
  vi.useFakeTimers();
  try {
    const nicknames: Record<string, string> = { u3: 'Boss' };
    const { drawing, asked, draw } = named(nicknames, 7);
    await vi.advanceTimersByTimeAsync(0);
    nicknames.u5 = 'Chief';
    delete nicknames.u3;
    draw(8);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked.length).toBe(2);
    expect(shown(drawing).slice(0, 2)).toEqual([drawing.client.person('u3').name, 'Chief']);
  } finally {
    vi.useRealTimers();
  }
});

test("the member's own name of a contact is shown also where the contact has a nickname", async () => {
  const drawing = new Drawing();
  const user = drawing.client.contacts().contacts[0]?.user ?? '';
  await drawing.client.ask({ t: 'contact_name', user, name: 'Auntie' });
  const own: KnownPerson = drawing.client.person(user);
  drawing.client.ask = (async () => ({
    t: 'nicknames',
    re: 0,
    names: [{ user, nickname: 'Boss' }],
  })) as never;
  const known = drawing.client.conversation(KEY);
  const conversation = { ...known, room: { ...known.room, role: 'member', nicknames: 1 } } as never;
  const One = () => {
    const context = useRoomNames(conversation);
    return (
      <AppContext.Provider value={context}>
        <Name user={user} />
      </AppContext.Provider>
    );
  };
  drawing.draw(<One />);
  await vi.waitFor(() => expect(drawing.find('p').textContent).toBe('Auntie'));
  expect(own.displayName).toBe(drawing.find('p').title);
});

test('a nickname is saved and removed, and a refusal says what to do', async () => {
  const drawing = new Drawing();
  const asked: unknown[] = [];
  let refusal: RequestError | undefined = new RequestError('user_exists');
  drawing.client.ask = (async (request: unknown) => {
    asked.push(request);
    if (refusal) throw refusal;
    return { t: 'nicknames', re: 0, names: [] };
  }) as never;
  const closed = vi.fn();
  const conversation = drawing.client.conversation(KEY);
  drawing.draw(
    <NicknameSheet client={drawing.client} conversation={conversation} nickname="Boss" onClose={closed} />,
  );
  drawing.type(drawing.find<HTMLInputElement>('input'), ' Chief ');
  drawing.do(() => drawing.button('Save').click());
  await vi.waitFor(() =>
    expect(drawing.find('[role=alert]').textContent).toContain('Choose a different one'),
  );
  expect(closed).not.toHaveBeenCalled();
  refusal = undefined;
  drawing.do(() => drawing.button('Save').click());
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
  drawing.do(() => drawing.button('Remove nickname').click());
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
  expect(asked).toMatchObject([{ nickname: 'Chief' }, { nickname: 'Chief' }, { t: 'nickname' }]);
  expect(asked[2]).not.toHaveProperty('nickname');
});
