import type { Client, ContactState, Me } from '@kith/client';
import { expect, test } from 'vitest';
import { mayCall } from './call_menu_items.ts';

const may = (calls: Me['calls'], state: ContactState, user = 'tom') => {
  const client = { me: () => ({ user: 'anna', calls }) as Me, contact: () => state };
  return mayCall(client as Pick<Client, 'me' | 'contact'>, user);
};

test('the setting for calls allows contacts, everyone or no one', () => {
  expect([may('contacts', 'contact'), may('everyone', 'contact'), may('nobody', 'contact')]).toEqual([
    true,
    true,
    false,
  ]);
  expect([may('contacts', 'none'), may('everyone', 'none'), may('nobody', 'none')]).toEqual([
    false,
    true,
    false,
  ]);
});

test('a user cannot call a blocked user or themselves', () => {
  expect([may('everyone', 'blocked'), may('everyone', 'contact', 'anna')]).toEqual([false, false]);
});
