// @vitest-environment happy-dom

import { type Ask, direct, type Event, RequestError, type Unnumbered } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, NOW, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { exportLines } from './account_export.ts';
import { BlockedSheet } from './blocked_sheet.tsx';
import { DataSheet } from './data_sheet.tsx';
import { DevicesSheet } from './devices_sheet.tsx';
import { OwnNameSheet } from './own_name_sheet.tsx';
import { PrivacySheet } from './privacy_sheet.tsx';
import { ProfileCard } from './profile_card.tsx';
import { endOf, StatusSheet } from './status_sheet.tsx';

beforeAll(() => Promise.all([lateWords.fetch(WORDING), lateWords.fetch(WORDING)]));

const nothing = () => undefined;

test('a profile shows name, status, presence and actions', async () => {
  const drawing = new Drawing();
  const user = drawing.client.contacts().contacts[0]?.user ?? '';
  const closed = vi.fn();
  drawing.draw(<ProfileCard user={user} onClose={closed} />);
  await vi.waitFor(() => expect(drawing.text()).toContain('On holiday'));
  expect(drawing.find('h3').textContent).toBe(drawing.client.person(user).name);
  drawing.do(() => drawing.button('Message').click());
  expect([closed.mock.calls.length, drawing.opened]).toEqual([1, [direct(user)]]);
  drawing.do(() => drawing.button('Report').click());
  expect(drawing.covers).toEqual([{ target: { user }, user }]);
});

test('the own profile has no actions', () => {
  const drawing = new Drawing();
  drawing.draw(<ProfileCard user={drawing.client.me().user} onClose={nothing} />);
  expect([drawing.text().includes('Your profile'), drawing.has('.choices')]).toEqual([true, false]);
});

test('a status can be saved unless it is too long', async () => {
  const drawing = new Drawing();
  const profile = { user: 'me', name: 'Me', state: 'none', own: drawing.client.own } as const;
  const changed = vi.fn();
  drawing.draw(<StatusSheet profile={profile} onChanged={changed} onClose={nothing} />);
  const field = drawing.find<HTMLInputElement>('#profile-status');
  drawing.type(field, 'x'.repeat(141));
  expect(drawing.button('Save').hasAttribute('disabled')).toBe(true);
  expect(drawing.text()).toContain('1 character too long');
  drawing.type(field, ' On holiday ');
  drawing.do(() => drawing.button('Save').click());
  await vi.waitFor(() => expect(changed).toHaveBeenCalled());
  expect(drawing.client.calls.at(-1)).toBe('{"t":"change_profile","status":"On holiday"}');
  expect(drawing.said).toEqual(['Saved']);
});

test('a status ends in the time zone of the member', () => {
  expect(endOf('never', NOW)).toBeUndefined();
  expect(endOf('hour', NOW)).toBe(NOW + 3_600_000);
  const midnight = new Date(endOf('today', NOW) ?? 0);
  expect([midnight.getHours(), midnight.getTime() > NOW]).toEqual([0, true]);
});

test('a privacy choice is saved at once', async () => {
  const drawing = new Drawing();
  const profile = { user: 'me', name: 'Me', state: 'none', own: drawing.client.own } as const;
  drawing.draw(<PrivacySheet profile={profile} onChanged={nothing} onClose={nothing} />);
  const radio = drawing.find<HTMLInputElement>('[name=see_last_seen][value=contacts]');
  drawing.do(() => radio.click());
  await vi.waitFor(() => expect(drawing.said).toEqual(['Saved']));
  expect(drawing.client.calls.at(-1)).toBe('{"t":"change_profile","see_last_seen":"contacts"}');
  expect(radio.checked).toBe(true);
});

test('an export contains all pages, and waits as long as the server demands', async () => {
  const pages: Record<string, Event[]> = {
    profile: [{ t: 'profile', re: 0, profile: { user: 'me', name: 'Me', state: 'none' } }],
    contacts: [
      { t: 'contacts', re: 0, contacts: [{ user: 'ana', name: 'Ana', state: 'contact' }], next: '1' },
      { t: 'contacts', re: 0, contacts: [{ user: 'ben', name: 'Ben', state: 'blocked' }] },
    ],
    conversations: [
      { t: 'conversations', re: 0, conversations: [] },
      { t: 'conversations', re: 0, conversations: [] },
    ],
    export: [
      { t: 'exported', re: 0, messages: [], next: '2' },
      {
        t: 'exported',
        re: 0,
        messages: [{ conversation: 'c', seq: 1, from: 'ana', id: 'a', body: 'Hi', time: 5 }],
        next: '3',
      },
      { t: 'exported', re: 0, messages: [], items: [{ list: 'mood', item: 'current', value: '<mood/>' }] },
    ],
  };
  const waits: number[] = [];
  let refused = false;
  const ask = (request: Unnumbered) => {
    if (request.t === 'export' && !refused) {
      refused = true;
      return Promise.reject(new RequestError('rate_limited', 700));
    }
    const next = pages[request.t]?.shift();
    return next ? Promise.resolve(next) : Promise.reject(new RequestError('internal'));
  };
  const pause = async (ms: number) => void waits.push(ms);
  const types: string[] = [];
  for await (const line of exportLines(ask as Ask, pause, new AbortController().signal)) {
    types.push(JSON.parse(line).type);
  }
  expect(types).toEqual(['profile', 'contact', 'contact', 'message', 'item']);
  expect(waits).toEqual([700]);
});

test('devices are listed and can be signed out', async () => {
  const drawing = new Drawing();
  drawing.draw(<DevicesSheet onClose={nothing} />);
  await vi.waitFor(() => expect(drawing.text()).toContain('Firefox on Linux'));
  expect(drawing.text()).toContain('This device');
  drawing.do(() => drawing.button('Sign out of Safari on iPhone').click());
  await vi.waitFor(() => expect(drawing.said).toEqual(['Device signed out']));
  expect(drawing.text()).not.toContain('Safari');
});

test('an account can be removed after a confirmation, if the site allows it', () => {
  const drawing = new Drawing();
  drawing.draw(<DataSheet mayRemove={false} onClose={nothing} />);
  expect(drawing.text()).not.toContain('Delete my account');
  drawing.draw(<DataSheet mayRemove onClose={nothing} />);
  drawing.do(() => drawing.find<HTMLInputElement>('[type=checkbox]').click());
  drawing.do(() => drawing.button('Delete my account').click());
  expect(drawing.question?.text).toContain('deleted for everyone');
  drawing.question?.onYes();
  expect(drawing.client.calls.at(-1)).toBe('{"t":"remove_account","messages":true}');
});

test('blocked people that could not be loaded are an error until a retry loads them', () => {
  const drawing = new Drawing();
  drawing.client.missing.add('contacts');
  drawing.client.fails = true;
  drawing.draw(<BlockedSheet onClose={nothing} />);
  expect(drawing.has('[role=alert]')).toBe(true);
  expect(drawing.text()).not.toContain('No blocked people');
  drawing.client.fails = false;
  drawing.do(() => drawing.button('Try again').click());
  expect(drawing.has('[role=alert]')).toBe(false);
  expect(drawing.text()).toContain('No blocked people');
});

test('blocked users are listed and can be unblocked', () => {
  const drawing = new Drawing();
  const user = drawing.client.contacts().contacts.find(one => one.state === 'contact')?.user ?? '';
  drawing.draw(<BlockedSheet onClose={nothing} />);
  expect(drawing.text()).toContain('No blocked people');
  drawing.do(() => void drawing.client.changeContact('block', user));
  const { name } = drawing.client.person(user);
  expect(drawing.text()).toContain(name);
  drawing.do(() => drawing.button(`Unblock ${name}`).click());
  expect(drawing.text()).toContain('No blocked people');
});

test('a member names a contact, changes the name, and removes it', async () => {
  const drawing = new Drawing();
  const user = drawing.client.contacts().contacts.find(one => one.state === 'contact')?.user ?? '';
  const { name } = drawing.client.person(user);
  const closed = vi.fn();
  drawing.draw(<OwnNameSheet user={user} onClose={closed} />);
  expect(drawing.find<HTMLInputElement>('input').placeholder).toBe(name);
  drawing.type(drawing.find<HTMLInputElement>('input'), ' Auntie ');
  drawing.do(() => drawing.button('Save').click());
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  drawing.draw(<ProfileCard user={user} onClose={nothing} />);
  expect(drawing.find('h3').textContent).toBe('Auntie');
  expect(drawing.find('h3 + p').textContent).toBe(name);
  drawing.do(() => drawing.button('Change name').click());
  expect(drawing.covers).toEqual([{ user }]);
  drawing.draw(<OwnNameSheet user={user} onClose={closed} />);
  expect(drawing.find<HTMLInputElement>('input').value).toBe('Auntie');
  drawing.do(() => drawing.button('Remove name').click());
  await vi.waitFor(() => expect(drawing.client.person(user)).not.toHaveProperty('displayName'));
  expect(drawing.client.person(user).name).toBe(name);
  expect(drawing.said).toEqual(['Saved', 'Saved']);
});

test('a name that is refused says what to do', async () => {
  const drawing = new Drawing();
  const user = drawing.client.contacts().contacts[0]?.user ?? '';
  drawing.client.ask = (() => Promise.reject(new RequestError('not_allowed'))) as Ask;
  drawing.draw(<OwnNameSheet user={user} onClose={nothing} />);
  drawing.type(drawing.find<HTMLInputElement>('input'), 'A');
  drawing.do(() => drawing.button('Save').click());
  await vi.waitFor(() => expect(drawing.find('[role=alert]').textContent).toContain('Add this person'));
});

test('only entries of the contact list can be named', async () => {
  const drawing = new Drawing();
  drawing.draw(<ProfileCard user="u4" onClose={nothing} />);
  await vi.waitFor(() => expect(drawing.text()).toContain('On holiday'));
  expect([drawing.client.contact('u4'), drawing.text().includes('Name this contact')]).toEqual([
    'none',
    false,
  ]);
});
