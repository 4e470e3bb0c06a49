// @vitest-environment happy-dom

import type { ContactState } from '@kith/client';
import { beforeAll, expect, test } from 'vitest';
import { FakeClient } from '../../../dev/fake_client.ts';
import { NOW, WORDING } from '../../../test/draw.ts';
import type { AppContextValue } from '../../app_context.tsx';
import { contactActions, words } from './contact_actions.ts';

beforeAll(() => words.fetch(WORDING));

const client = new FakeClient({ now: NOW });
const shown: object[] = [];
const context: AppContextValue = {
  client,
  wording: WORDING,
  announce: () => undefined,
  openChat: () => undefined,
  openMenu: () => undefined,
  pickEmoji: () => undefined,
  takesFocus: () => true,
  confirm: () => undefined,
  call: () => undefined,
  show: (_, props) => shown.push(props),
};
const names = (user: string, state: ContactState) =>
  contactActions(context, client.person(user), state).map(item => item.text);

test('each state offers the actions that change it', () => {
  expect(names('u1', 'none')).toEqual(['Message', 'Profile', 'Add to contacts', 'Block', 'Report']);
  expect(names('u1', 'request_sent')).toEqual(['Message', 'Profile', 'Cancel request', 'Block', 'Report']);
  expect(names('u1', 'request_received')).toEqual(['Message', 'Profile', 'Accept', 'Block', 'Report']);
  expect(names('u2', 'contact')).toEqual([
    'Message',
    'Profile',
    'Audio call',
    'Video call',
    'Remove from contacts',
    'Block',
    'Report',
  ]);
  expect(names('u1', 'blocked')).toEqual(['Message', 'Profile', 'Unblock']);
});

test('a report names the reported user', () => {
  contactActions(context, client.person('u1'), 'none').at(-1)?.run();
  expect(shown).toEqual([{ target: { user: 'u1' }, user: 'u1' }]);
});

test('a user cannot block or add themselves', () => {
  expect(names('me', 'none')).toEqual(['Message', 'Profile']);
});
