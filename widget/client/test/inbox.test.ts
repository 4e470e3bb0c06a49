// Drafts on several devices, conversations marked as unread, lists, and search.

import { expect, test, vi } from 'vitest';
import { direct, room } from '../src/client.ts';
import { threadDraft } from '../src/message_extras.ts';
import { world } from './world.ts';

const ANA = direct('ana');
const BEN = direct('ben');

/** Ana has written to Ben, who is online with two browsers. */
async function devices() {
  const all = world();
  all.server.says('ana', 'ben', 'hello');
  const phone = await all.online('ben');
  const laptop = await all.online('ben');
  const drafts = () =>
    all.server.log.filter(one => one.command.t === 'conversation' && 'draft' in one.command);
  return { ...all, phone: phone.client, laptop: laptop.client, drafts };
}

test('a draft is sent to the other device after a pause, and removed with the message', async () => {
  const { clock, phone, laptop, drafts } = await devices();
  for (const text of ['h', 'half', 'half a']) {
    phone.setDraft(ANA, text);
    await clock.advance(1_000);
  }
  expect([laptop.draft(ANA), drafts().length]).toEqual(['', 0]);
  await clock.advance(3_000);
  expect([laptop.draft(ANA), drafts().length]).toEqual(['half a', 1]);
  phone.send(ANA, 'half a thought');
  phone.setDraft(ANA, '');
  await clock.advance(4_000);
  expect([laptop.draft(ANA), drafts().length]).toEqual(['', 2]);
});

test('a message that is sent at once sends no draft', async () => {
  const { clock, phone, drafts } = await devices();
  phone.setDraft(ANA, 'ok');
  await clock.advance(500);
  phone.send(ANA, 'ok');
  phone.setDraft(ANA, '');
  await clock.advance(20_000);
  expect(drafts().length).toBe(0);
});

test('the later of two drafts counts, and no device loses the text that is being typed', async () => {
  const { clock, phone, laptop } = await devices();
  phone.setDraft(ANA, 'from the phone');
  await clock.advance(2_000);
  laptop.setDraft(ANA, 'from the laptop');
  await clock.advance(1_500);
  expect([phone.draft(ANA), laptop.draft(ANA)]).toEqual(['from the phone', 'from the laptop']);
  await clock.advance(5_000);
  expect([phone.draft(ANA), laptop.draft(ANA)]).toEqual(['from the laptop', 'from the laptop']);
});

test('a draft that was cleared while it was being sent does not come back', async () => {
  const { clock, server, phone, laptop } = await devices();
  server.latency = () => 1_000;
  phone.setDraft(ANA, 'half a');
  await clock.advance(3_500);
  phone.send(ANA, 'half a');
  phone.setDraft(ANA, '');
  await clock.advance(20_000);
  expect([phone.draft(ANA), laptop.draft(ANA)]).toEqual(['', '']);
});

test('a draft that was written without a connection is sent with the next one', async () => {
  const { clock, server, phone, laptop } = await devices();
  server.reachable = false;
  server.cutAll();
  phone.setDraft(ANA, 'offline');
  await clock.advance(10_000);
  server.reachable = true;
  await clock.advance(60_000);
  expect([phone.draft(ANA), laptop.draft(ANA)]).toEqual(['offline', 'offline']);
});

test('a chat that is marked as unread is in the unread list on all devices, until it is opened', async () => {
  const { clock, phone, laptop } = await devices();
  phone.seen(ANA, 1);
  await clock.advance(2_000);
  expect(laptop.conversations('unread').keys).toEqual([]);
  await Promise.all([phone.changeConversation(ANA, { markedUnread: true }), clock.advance(100)]);
  await clock.advance(100);
  expect([laptop.conversation(ANA).markedUnread, laptop.conversations('unread').keys]).toEqual([true, [ANA]]);
  expect(laptop.totals()).toMatchObject({ unread: 0, conversations: 1 });
  laptop.open(ANA);
  await clock.advance(100);
  expect([phone.conversation(ANA).markedUnread, phone.conversations('unread').keys]).toEqual([false, []]);
});

test('the lists of unread chats and of mentions are requested, and follow the read markers', async () => {
  const { clock, server, phone } = await devices();
  server.says('eve', 'ben', 'hey @ben');
  await clock.advance(500);
  expect(phone.conversations('unread').keys).toHaveLength(2);
  expect(phone.conversations('mentions')).toMatchObject({ keys: [direct('eve')], more: true });
  phone.loadConversations('mentions');
  await clock.advance(100);
  expect(phone.conversations('mentions').more).toBe(false);
  expect(server.log.at(-1)?.command).toMatchObject({ t: 'conversations', only: 'mentions' });
  phone.seen(direct('eve'), 1);
  expect([phone.conversations('mentions').keys, phone.conversations('unread').keys]).toEqual([[], [ANA]]);
});

test('a list that the server could not read has failed, and loads with the next request', async () => {
  const { clock, server, phone } = await devices();
  server.refuse = command =>
    command.t === 'conversations' ? { t: 'error', re: command.rid, code: 'internal', text: '' } : undefined;
  phone.loadConversations('archived');
  expect(phone.conversations('archived')).toMatchObject({ loading: true, failed: false });
  await clock.advance(500);
  expect(phone.conversations('archived')).toMatchObject({
    keys: [],
    loading: false,
    failed: true,
    more: true,
  });
  server.refuse = () => undefined;
  phone.loadConversations('archived');
  await clock.advance(500);
  expect(phone.conversations('archived')).toMatchObject({ loading: false, failed: false, more: false });
});

test('a list that was opened without a connection has failed, and loads with the next one', async () => {
  const { clock, server, phone } = await devices();
  server.reachable = false;
  server.cutAll();
  await clock.advance(1_000);
  const heard: string[] = [];
  phone.subscribe('archived', () => heard.push('archived'));
  phone.loadConversations('archived');
  await clock.advance(100);
  expect([phone.conversations('archived').failed, heard]).toEqual([true, ['archived']]);
  server.reachable = true;
  await clock.advance(60_000);
  expect(phone.conversations('archived')).toMatchObject({ failed: false, more: false });
});

test('a list that failed in another tab of the browser loads with the next connection', async () => {
  const { clock, server, browser, online } = world();
  server.says('ana', 'ben', 'hello');
  const here = browser();
  await online('ben', here);
  const { client } = await online('ben', here);
  server.reachable = false;
  server.cutAll();
  await clock.advance(1_000);
  const heard: string[] = [];
  client.subscribe('requests', () => heard.push('requests'));
  client.loadConversations('unread');
  await clock.advance(100);
  // The list of requests is part of the main one, so it changes with each.
  expect([client.conversations('unread').failed, heard]).toEqual([true, ['requests']]);
  server.reachable = true;
  await clock.advance(60_000);
  expect(client.conversations('unread')).toMatchObject({ keys: [ANA], failed: false, more: false });
});

test('hits have their conversation, also one that was not loaded, and in a search of one only', async () => {
  const { clock, server, online } = world();
  server.says('ana', 'ben', 'motor oil');
  server.says('eve', 'ben', 'the motor is warm');
  const { client } = await online('ben');
  const found = async (...args: Parameters<typeof client.search>) => {
    const asked = client.search(...args);
    // Wait until the code of the search is fetched.
    await vi.dynamicImportSettled();
    await clock.advance(500);
    return (await asked).hits.map(one => `${one.key} ${one.message.body}`);
  };
  expect(await found('motor')).toEqual(['@eve the motor is warm', '@ana motor oil']);
  expect(await found('motor', { in: ANA })).toEqual(['@ana motor oil']);
  expect(await found('motor', { in: BEN })).toEqual([]);
});

test('the draft of a thread stays in its browser, also over a page change', async () => {
  const { clock, server, browser, online } = world();
  server.says('ana', 'ben', 'hello');
  const here = browser();
  const first = await online('ben', here);
  const elsewhere = await online('ben');
  const key = threadDraft(room('r1'), 8);
  first.client.setDraft(key, 'half a reply');
  await clock.advance(20_000);
  expect(first.client.draft(room('r1'))).toBe('');
  expect(elsewhere.client.draft(key)).toBe('');
  expect(server.log.filter(one => JSON.stringify(one.command).includes('half a reply'))).toEqual([]);
  first.close();
  const second = await online('ben', here);
  expect(second.client.draft(key)).toBe('half a reply');
  second.client.setDraft(key, '');
  await clock.advance(20_000);
  expect(second.client.draft(key)).toBe('');
});
