// Tokens, guests, and the data in the browser's storage.

import { expect, test } from 'vitest';
import { direct } from '../src/client.ts';
import { tokenOf } from './server.ts';
import { world } from './world.ts';

const BEN = direct('ben');

test('nothing is stored before the server has welcomed the member, and never a token', async () => {
  const { clock, server, browser } = world();
  const one = browser();
  server.reachable = false;
  const tab = one.tab('ana');
  tab.client.setDraft(BEN, 'half');
  tab.client.connect();
  await clock.advance(20_000);
  tab.say('hidden');
  expect([...one.storage.keys()]).toEqual([]);
  server.reachable = true;
  await clock.advance(60_000);
  expect([...one.storage.keys()].sort()).toEqual(['kith:demo:cache:ana', 'kith:demo:device']);
  expect([...one.storage.values()].join()).not.toContain(tokenOf('ana').split('.')[1]);
});

test('the next page shows the cached state at once, and requests only the difference', async () => {
  const { clock, server, browser, online } = world();
  const one = browser();
  server.says('ben', 'ana', 'before', 'b1');
  const first = await online('ana', one);
  first.client.setDraft(BEN, 'half a th');
  server.reachable = false;
  server.cutAll();
  first.client.send(BEN, 'written offline');
  first.close();
  server.says('ben', 'ana', 'meanwhile', 'b2');
  const second = one.tab('ana', { user: 'ana' });
  second.client.connect();
  const bodies = () => second.client.timeline(BEN).messages.map(message => message.body);
  expect(bodies()).toEqual(['before', 'written offline']);
  expect(second.client.draft(BEN)).toBe('half a th');
  expect(second.client.me()?.name).toBe('ANA');
  server.reachable = true;
  await clock.advance(30_000);
  expect(bodies()).toEqual(['before', 'meanwhile', 'written offline']);
  expect(server.talk('ana', 'ben').messages.length).toBe(3);
});

test('contacts are known on the next page, too', async () => {
  const { clock, server, browser, online } = world();
  server.relate('ana', 'ben', 'contact');
  const one = browser();
  const first = await online('ana', one);
  expect(first.client.contact('ben')).toBe('contact');
  first.close();
  const second = one.tab('ana', { user: 'ana' });
  second.client.connect();
  expect(second.client.contact('ben')).toBe('contact');
  await clock.advance(10_000);
  expect(second.client.status().state).toBe('online');
  expect(second.client.contact('ben')).toBe('contact');
  server.relate('ana', 'ben', 'none');
  await clock.advance(1_000);
  expect(second.client.contact('ben')).toBe('none');
});

test('damaged storage is ignored', async () => {
  const { clock, browser } = world();
  for (const value of [
    '',
    '{',
    'null',
    '1 null',
    '1 {"v":1}',
    `1 ${JSON.stringify({ v: 1, me: { user: 'ana' } })}`,
  ]) {
    const one = browser();
    one.storage.set('kith:demo:cache:ana', value);
    one.storage.set('kith:demo:device', 'a b');
    one.storage.set('kith:demo:transport', 'pigeon@1');
    const tab = one.tab('ana');
    tab.client.connect();
    await clock.advance(1_000);
    expect(tab.client.status().state).toBe('online');
    tab.close();
  }
});

test('when another member signs in on the page, no data of the former one stays', async () => {
  const { clock, server, browser, online } = world();
  const one = browser();
  server.says('ben', 'ana', 'for ana', 'b1');
  const { client } = await online('ana', one);
  client.setDraft(BEN, 'of ana');
  await clock.advance(3_000);
  client.setToken(tokenOf('cem'));
  await clock.advance(3_000);
  expect(client.me()?.user).toBe('cem');
  expect(client.conversations().keys).toEqual([]);
  expect(client.draft(BEN)).toBe('');
  expect([...one.storage.keys()].sort()).toEqual(['kith:demo:cache:cem', 'kith:demo:device']);
  expect([...server.sessions].map(session => session.user)).toEqual(['cem']);
});

test('the site reports that another member is signed in now, or nobody', async () => {
  for (const now of ['cem', undefined]) {
    const { clock, server, browser } = world();
    const one = browser();
    let user: string | undefined = 'ana';
    const token = () => Promise.resolve(user === undefined ? undefined : tokenOf(user));
    const { client } = one.tab('ana', { token });
    client.connect();
    await clock.advance(3_000);
    user = now;
    server.tell('ana', { t: 'bye', code: 'token_expired', text: '' });
    for (const session of [...server.sessions]) server.sessions.delete(session);
    await clock.advance(10_000);
    expect(client.me()?.user).toBe(now);
    expect(client.status().state).toBe(now === undefined ? 'stopped' : 'online');
    expect(one.storage.has('kith:demo:cache:ana')).toBe(false);
  }
});

test('forget: signed out, stopped, empty, and ready to begin again', async () => {
  const { clock, server, browser, online } = world();
  const one = browser();
  server.says('ben', 'ana', 'hello', 'b1');
  const { client } = await online('ana', one);
  await clock.advance(3_000);
  client.forget();
  await clock.advance(3_000);
  expect(client.status().state).toBe('stopped');
  expect(client.totals().unread).toBe(0);
  expect(one.storage.has('kith:demo:cache:ana')).toBe(false);
  expect(server.sessions.size).toBe(0);
  client.setToken(tokenOf('ana'));
  client.connect();
  await clock.advance(1_000);
  expect(client.totals().unread).toBe(1);
});

test('a token endpoint that is down is asked again, at growing intervals', async () => {
  const { clock, browser } = world();
  let asked = 0;
  const token = () => {
    asked += 1;
    return asked < 4 ? Promise.reject(new Error('away')) : Promise.resolve(tokenOf('ana'));
  };
  const { client } = browser().tab('ana', { token });
  client.connect();
  await clock.advance(500);
  expect(client.status()).toMatchObject({ state: 'waiting' });
  await clock.advance(60_000);
  expect(client.status()).toMatchObject({ state: 'online' });
  expect(asked).toBe(4);
});

test('a guest enters without a token, and is stopped if the site has no guests', async () => {
  const { clock, server, browser } = world();
  const guest = browser().tab(undefined);
  guest.client.connect();
  await clock.advance(1_000);
  expect(guest.client.me()?.user).toMatch(/^guest_/);
  server.refuse = command => (command.t === 'hello' ? { t: 'bye', code: 'no_guests', text: '' } : undefined);
  const refused = browser().tab(undefined);
  refused.client.connect();
  await clock.advance(1_000);
  expect(refused.client.status()).toMatchObject({ state: 'stopped', code: 'no_guests' });
  server.refuse = () => undefined;
  refused.client.setToken(tokenOf('ana'));
  await clock.advance(1_000);
  expect(refused.client.me()?.user).toBe('ana');
});

test('a guest who has not written leaves no data; one who has written is the same guest next time', async () => {
  const { clock, server, browser } = world();
  const one = browser();
  const visit = async () => {
    const tab = one.tab(undefined);
    tab.client.connect();
    await clock.advance(1_000);
    return tab;
  };
  const looked = await visit();
  looked.client.setDraft(BEN, 'shall I?');
  looked.say('hidden');
  const before = looked.client.me()?.user;
  looked.close();
  expect([...one.storage.keys()]).toEqual([]);

  const wrote = await visit();
  const guest = wrote.client.me()?.user ?? '';
  expect(guest).not.toBe(before);
  wrote.client.send(BEN, 'Is the seed shop open?');
  expect([...one.storage.keys()]).toEqual([]);
  await clock.advance(500);
  expect([...one.storage]).toEqual([['kith:demo:guest', tokenOf(guest)]]);
  wrote.close();
  server.says('ben', guest, 'It is.', 'b1');

  const back = await visit();
  expect(back.client.me()).toMatchObject({ user: guest, guest: true });
  expect(back.client.totals().unread).toBe(1);
  expect([...one.storage.keys()].sort()).toEqual(['kith:demo:device', 'kith:demo:guest']);
});

test('the token of a guest is renewed, and removed with the guest', async () => {
  const written = async () => {
    const { clock, server, browser } = world();
    const one = browser();
    const tab = one.tab(undefined);
    tab.client.connect();
    await clock.advance(1_000);
    tab.client.send(BEN, 'hello');
    await clock.advance(500);
    const kept = () => one.storage.get('kith:demo:guest');
    expect(kept()).toBeDefined();
    return { clock, server, one, tab, kept };
  };
  for (const leave of ['destroy', 'forget'] as const) {
    const { tab, kept } = await written();
    tab.client[leave]();
    expect(kept(), leave).toBeUndefined();
  }
  {
    const { clock, tab, kept } = await written();
    tab.client.setToken(tokenOf('ana'));
    await clock.advance(1_000);
    expect(tab.client.me()?.user).toBe('ana');
    expect(kept()).toBeUndefined();
  }
  {
    // The guest becomes a member on another page, where the client has not signed in as the guest before.
    const { clock, one, tab, kept } = await written();
    tab.close();
    one.tab('ana').client.connect();
    await clock.advance(1_000);
    expect(kept()).toBeUndefined();
  }
  {
    const { clock, server, one, tab, kept } = await written();
    const guest = tab.client.me()?.user ?? '';
    tab.close();
    server.renewal = tokenOf(guest, 4_000_000_000);
    one.tab(undefined).client.connect();
    await clock.advance(1_000);
    expect(kept()).toBe(server.renewal);
  }
  {
    // The server refuses the token, because the site has a new secret.
    const { clock, server, one, tab, kept } = await written();
    const guest = tab.client.me()?.user;
    tab.close();
    server.refuse = (command, user) =>
      command.t === 'hello' && user === guest ? { t: 'bye', code: 'bad_token', text: '' } : undefined;
    const next = one.tab(undefined);
    next.client.connect();
    await clock.advance(10_000);
    expect(next.client.me()?.user).toMatch(/^guest_/);
    expect(next.client.me()?.user).not.toBe(guest);
    expect(kept()).toBeUndefined();
  }
  for (const damaged of ['', 'x', tokenOf('guest_9', 1)]) {
    const { clock, one, tab } = await written();
    tab.close();
    one.storage.set('kith:demo:guest', damaged);
    const next = one.tab(undefined);
    next.client.connect();
    await clock.advance(1_000);
    expect(next.client.status().state).toBe('online');
    expect(next.client.me()?.user).not.toBe('guest_9');
  }
});

test('after sleep the dead link is detected, and missed messages arrive', async () => {
  const { clock, server, online } = world();
  const ana = await online('ana');
  server.freeze();
  server.says('ben', 'ana', 'meanwhile', 'b1');
  clock.sleep(3_600_000);
  ana.say('visible');
  await clock.advance(8_000);
  expect(ana.client.status().state).toBe('online');
  expect(ana.client.totals().unread).toBe(1);
  expect(server.hellos).toBe(2);
});

test('late timers alone detect sleep', async () => {
  const { clock, server, online } = world();
  const ana = await online('ana');
  server.freeze();
  clock.sleep(3_600_000);
  await clock.advance(8_000);
  expect(ana.client.status().state).toBe('online');
  expect(server.hellos).toBe(2);
});

test('queued messages that cannot be sent: too long, refused, discarded, retried with the same id', async () => {
  const { clock, server, online } = world();
  const { client } = await online('ana');
  client.send(BEN, 'x'.repeat(9_000));
  server.refuse = command =>
    command.t === 'send' ? { t: 'error', code: 'not_allowed', text: '', id: command.id } : undefined;
  const id = client.send(BEN, 'blocked');
  await clock.advance(500);
  const shown = () =>
    client.timeline(BEN).messages.map(one => `${one.body.slice(0, 7)} ${one.state} ${one.code ?? ''}`);
  expect(shown()).toEqual(['xxxxxxx failed bad_body', 'blocked failed not_allowed']);
  client.discard(client.timeline(BEN).messages[0]!.id);
  server.refuse = () => undefined;
  client.retry(id);
  expect(shown()).toEqual(['blocked sending ']);
  await clock.advance(500);
  expect(shown()).toEqual(['blocked sent ']);
  expect(server.talk('ana', 'ben').messages.map(one => one.id)).toEqual([id]);
});
