// Several tabs of one member: one connection, the same state in all tabs, and always a leader.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import { Browser, type Tab } from './browser.ts';
import { Clock } from './clock.ts';
import { Server, tokenOf } from './server.ts';

const BEN = direct('ben');

async function threeTabs() {
  const clock = new Clock();
  const server = new Server(clock);
  const browser = new Browser(clock, server.open);
  const tabs = [browser.tab('ana'), browser.tab('ana'), browser.tab('ana')];
  for (const { client } of tabs) client.connect();
  await clock.advance(1_000);
  const bodies = (tab: Tab) => tab.client.timeline(BEN).messages.map(one => `${one.body} ${one.state}`);
  const shared = () => tabs.filter(one => !one.dead).map(one => one.client.status().shared);
  return { clock, server, browser, tabs: tabs as [Tab, Tab, Tab], bodies, shared };
}

test('all tabs share one session and show the same messages', async () => {
  const { clock, server, tabs, bodies, shared } = await threeTabs();
  expect(server.sessions.size).toBe(1);
  expect(shared()).toEqual([false, true, true]);
  tabs[2].client.send(BEN, 'hi');
  expect(bodies(tabs[2])).toEqual(['hi sending']);
  await clock.advance(500);
  for (const tab of tabs) expect(bodies(tab)).toEqual(['hi sent']);
  tabs[1].client.setDraft(BEN, 'half a th');
  server.says('ben', 'ana', 'hello');
  await clock.advance(100);
  for (const tab of tabs) expect(tab.client.totals().unread).toBe(1);
  expect(tabs[0].client.draft(BEN)).toBe('half a th');
  tabs[1].client.seen(BEN, 2);
  await clock.advance(100);
  for (const tab of tabs) expect(tab.client.totals().unread).toBe(0);
});

test('a message is announced in one tab only', async () => {
  const { clock, server, tabs } = await threeTabs();
  const heard: boolean[] = [];
  for (const tab of tabs) tab.client.on('message', ({ first }) => heard.push(first));
  server.says('ben', 'ana', 'hello');
  await clock.advance(100);
  expect(heard.sort()).toEqual([false, false, true]);
});

test('the focused or last focused tab announces; when it is closed, the leader does', async () => {
  const { clock, server, tabs, browser } = await threeTabs();
  const heard: number[] = [];
  const listen = (tab: Tab) =>
    tab.client.on('message', ({ first }) => {
      if (first) heard.push(browser.tabs.indexOf(tab));
    });
  for (const tab of tabs) listen(tab);
  const hear = async () => {
    server.says('ben', 'ana', 'hello');
    await clock.advance(100);
    return heard.splice(0);
  };
  tabs[2].say('focused');
  await clock.advance(100);
  expect(await hear()).toEqual([2]);
  tabs[0].crash();
  await clock.advance(1_000);
  expect(await hear()).toEqual([2]);
  tabs[1].say('focused');
  await clock.advance(100);
  expect(await hear()).toEqual([1]);
  tabs[2].say('focused');
  tabs[2].close();
  await clock.advance(100);
  expect(await hear()).toEqual([1]);
});

test('the leader is killed: another takes over with its position, and nothing is missed', async () => {
  const { clock, server, tabs, bodies, shared } = await threeTabs();
  server.says('ben', 'ana', 'before');
  await clock.advance(100);
  tabs[0].crash();
  server.says('ben', 'ana', 'meanwhile');
  await clock.advance(1_000);
  expect(shared()).toEqual([false, true]);
  for (const tab of tabs.slice(1)) expect(bodies(tab)).toEqual(['before received', 'meanwhile received']);
  expect(server.sessions.size).toBe(1);
});

test('a message of a follower is sent by the next leader if the first one is killed', async () => {
  const { clock, server, tabs, bodies } = await threeTabs();
  tabs[2].client.send(BEN, 'hi');
  tabs[0].crash();
  await clock.advance(2_000);
  expect(server.talk('ana', 'ben').messages.map(one => one.body)).toEqual(['hi']);
  for (const tab of tabs.slice(1)) expect(bodies(tab)).toEqual(['hi sent']);
});

test('a leader that hangs loses the lock to a visible tab, and queues for it again when it wakes', async () => {
  const { clock, server, tabs, bodies, shared } = await threeTabs();
  tabs[1].say('hidden');
  tabs[0].frozen = true;
  tabs[2].client.send(BEN, 'hi');
  await clock.advance(60_000);
  expect(tabs[2].client.status()).toMatchObject({ state: 'online', shared: false });
  expect(server.talk('ana', 'ben').messages.length).toBe(1);
  tabs[0].thaw();
  await clock.advance(60_000);
  expect(shared()).toEqual([true, true, false]);
  expect(bodies(tabs[0])).toEqual(['hi sent']);
  expect(server.sessions.size).toBe(1);
});

test('a page that is left releases the lock at once, and returns as a follower with the whole state', async () => {
  const { clock, server, tabs, bodies, shared } = await threeTabs();
  tabs[0].say('leaving');
  await clock.advance(500);
  expect(tabs[1].client.status()).toMatchObject({ state: 'online', shared: false });
  server.says('ben', 'ana', 'meanwhile');
  await clock.advance(500);
  tabs[0].say('restored');
  await clock.advance(500);
  expect(shared()).toEqual([true, false, true]);
  expect(bodies(tabs[0])).toEqual(['meanwhile received']);
  expect(server.sessions.size).toBe(1);
});

test('one tab leaves on purpose: the member stays; the last one says bye', async () => {
  const { clock, server, tabs } = await threeTabs();
  tabs[0].client.destroy();
  await clock.advance(500);
  expect(server.sessions.size).toBe(1);
  tabs[1].client.destroy();
  await clock.advance(500);
  expect(server.sessions.size).toBe(1);
  tabs[2].client.destroy();
  await clock.advance(500);
  expect(server.sessions.size).toBe(0);
  expect(server.log.filter(one => one.command.t === 'bye').length).toBe(1);
});

test('requests of a follower are answered through the leader, errors with their code', async () => {
  const { server, clock, tabs } = await threeTabs();
  server.names.set('ben', 'Benjamin');
  const people = tabs[2].client.people('b');
  await clock.advance(200);
  expect((await people).people).toEqual([{ user: 'ben', name: 'Benjamin' }]);
  server.refuse = command =>
    command.t === 'contact'
      ? { t: 'error', code: 'rate_limited', text: '', re: command.rid, retry_after: 900 }
      : undefined;
  const contact = tabs[2].client.changeContact('request', 'ben').catch(error => error);
  await clock.advance(200);
  expect(await contact).toMatchObject({ code: 'rate_limited', retryAfter: 900 });
});

test('watches of tabs are joined, and a closed tab watches no more', async () => {
  const { clock, server, tabs } = await threeTabs();
  tabs[0].client.watch(['ben']);
  tabs[2].client.watch(['cem', 'ben']);
  await clock.advance(500);
  const watched = () => [...([...server.sessions][0]?.watch ?? [])];
  expect(watched()).toEqual(['ben', 'cem']);
  tabs[2].close();
  await clock.advance(500);
  expect(watched()).toEqual(['ben']);
});

test('one tab that shows contacts watches them for all tabs, until the last one hides them', async () => {
  const { clock, server, tabs } = await threeTabs();
  server.relate('ana', 'ben', 'contact');
  new Browser(clock, server.open, 7).tab('ben').client.connect();
  await clock.advance(500);
  const leave = [tabs[0].client.watchContacts(), tabs[2].client.watchContacts()];
  tabs[2].client.watch(['ben', 'cem']);
  await clock.advance(500);
  const [session] = [...server.sessions].filter(one => one.user === 'ana');
  expect([session?.watchesContacts, [...(session?.watch ?? [])]]).toEqual([true, ['cem']]);
  for (const { client } of tabs) expect(client.presence('ben').presence).toBe('online');
  leave[0]?.();
  await clock.advance(500);
  expect(session?.watchesContacts).toBe(true);
  leave[1]?.();
  await clock.advance(500);
  expect([session?.watchesContacts, [...(session?.watch ?? [])]]).toEqual([false, ['ben', 'cem']]);
});

test('a tab of another member, or of another version, is ignored', async () => {
  const { clock, server, browser } = await threeTabs();
  const ben = browser.tab('ben');
  ben.client.connect();
  await clock.advance(1_000);
  expect(ben.client.status()).toMatchObject({ state: 'online', shared: false });
  expect([...server.sessions].map(one => one.user).sort()).toEqual(['ana', 'ben']);
});

test('a page that names its member: only the leading tab asks for a token', async () => {
  const clock = new Clock();
  const server = new Server(clock);
  const browser = new Browser(clock, server.open);
  let tokens = 0;
  const token = () => {
    tokens += 1;
    return Promise.resolve(tokenOf('ana'));
  };
  for (let tab = 0; tab < 4; tab++) browser.tab('ana', { user: 'ana', token }).client.connect();
  await clock.advance(1_000);
  expect(tokens).toBe(1);
  expect(server.sessions.size).toBe(1);
});

test('without Web Locks each tab has its own connection and its own device', async () => {
  const clock = new Clock();
  const server = new Server(clock);
  const browser = new Browser(clock, server.open);
  browser.old = true;
  const tabs = [browser.tab('ana'), browser.tab('ana')];
  for (const { client } of tabs) client.connect();
  await clock.advance(1_000);
  expect(server.sessions.size).toBe(2);
  expect(new Set([...server.sessions].map(one => one.device)).size).toBe(2);
  server.says('ben', 'ana', 'hello');
  await clock.advance(100);
  for (const { client } of tabs) expect(client.totals().unread).toBe(1);
});

test('a copied profile has the same device id: the replaced client takes another id, and both stay', async () => {
  const { clock, server, browser, tabs } = await threeTabs();
  const copy = new Browser(clock, server.open, 7);
  for (const [key, value] of browser.storage) copy.storage.set(key, value);
  const other = copy.tab('ana');
  other.client.connect();
  await clock.advance(10_000);
  expect(tabs[0].client.status().state).toBe('online');
  expect(other.client.status().state).toBe('online');
  expect(new Set([...server.sessions].map(one => one.device)).size).toBe(2);
  expect(server.hellos).toBe(3);
});

test('a guest stays the same guest when another tab takes over, and no data is stored', async () => {
  const clock = new Clock();
  const server = new Server(clock);
  const browser = new Browser(clock, server.open);
  const tabs = [browser.tab(undefined), browser.tab(undefined)];
  for (const { client } of tabs) client.connect();
  await clock.advance(5_000);
  const guest = tabs[0]!.client.me()?.user;
  expect(guest).toMatch(/^guest_/);
  tabs[0]!.close();
  await clock.advance(5_000);
  expect(tabs[1]!.client.me()?.user).toBe(guest);
  expect([...browser.storage.keys()]).toEqual([]);
});

test('invalid posts on the channel are ignored', async () => {
  const { clock, browser, tabs, bodies } = await threeTabs();
  const channel = browser.channel('kith:2:demo:ana', new OutsideTab() as unknown as Tab);
  for (const one of [
    null,
    1,
    'x',
    [],
    {},
    { k: 'apply' },
    { k: 'lead', from: 1 },
    { k: 'snapshot', from: 'x', to: 'y' },
  ]) {
    channel.post(one);
  }
  channel.post({ k: 'do', from: 'x', n: 1, action: null });
  channel.post({ k: 'front', from: 'x' });
  channel.post({ k: 'watch', from: 'x', wanted: null });
  channel.post({ k: 'watch', from: 'x', wanted: { contacts: true, users: [1], lastSeen: [] } });
  await clock.advance(100);
  tabs[1].client.send(BEN, 'still here');
  await clock.advance(500);
  for (const tab of tabs) expect(bodies(tab)).toEqual(['still here sent']);
});

class OutsideTab {
  dead = false;
  atDeath: (() => void)[] = [];
  run(call: () => void) {
    call();
  }
}
