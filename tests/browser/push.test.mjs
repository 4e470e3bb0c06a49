// Notices while the site is closed: the member turns them on, the service worker shows them, and a click opens the
// chat. Tests have no push service: the browser's subscription is a fake, and the tests deliver pushes to the browser
// directly.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertNoTrouble,
  DESKTOP,
  launchWithNotifications,
  person,
  until,
} from './browser.mjs';
import { befriend, button, bye, CALLS, call } from './calling.mjs';
import { Kith } from './kith.mjs';
import { pushService, takesPushes } from './push_service.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launchWithNotifications(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** A browser context that allows notices, with a fake subscription. */
async function member(name, { allows = true } = {}) {
  // The policy of the demo's pages allows no Trusted Types policy, so they cannot register a worker (docs/embed.md).
  const context = await person(browser, { ...DESKTOP, bypassCSP: true });
  if (allows) await context.grantPermissions(['notifications'], { origin: kith.url });
  await context.addInitScript(() => {
    let there = null;
    const subscribe = async ({ applicationServerKey }) => {
      const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, [
        'deriveBits',
      ]);
      const base64url = bytes =>
        btoa(String.fromCharCode(...new Uint8Array(bytes)))
          .replaceAll('+', '-')
          .replaceAll('/', '_')
          .replaceAll('=', '');
      const endpoint = `https://fcm.googleapis.com/fcm/send/${crypto.randomUUID()}`;
      const keys = {
        p256dh: base64url(await crypto.subtle.exportKey('raw', pair.publicKey)),
        auth: base64url(crypto.getRandomValues(new Uint8Array(16))),
      };
      there = {
        endpoint,
        options: { applicationServerKey: applicationServerKey.buffer },
        toJSON: () => ({ endpoint, keys }),
        unsubscribe: async () => {
          there = null;
          return true;
        },
      };
      return there;
    };
    PushManager.prototype.subscribe = subscribe;
    PushManager.prototype.getSubscription = async () => there;
  });
  const widget = await Widget.of(context, kith, name);
  await widget.tab('Me').click();
  return {
    context,
    widget,
    page: widget.page,
    here: widget.page.getByRole('switch', { name: 'Notify me in this browser' }),
  };
}

const notices = page =>
  page.evaluate(async () => {
    const [registration] = await navigator.serviceWorker.getRegistrations();
    const all = (await registration?.getNotifications()) ?? [];
    return all.map(({ title, body, tag }) => ({ title, body, tag }));
  });

/** Delivers a push to the page's service worker. */
async function deliver(page, data) {
  const session = await page.context().newCDPSession(page);
  const registered = new Promise(resolve => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const ours = registrations.find(one => one.scopeURL.endsWith('/kith/'));
      if (ours) resolve(ours.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  await session.send('ServiceWorker.deliverPushMessage', {
    origin: kith.url,
    registrationId,
    data: JSON.stringify(data),
  });
  await session.detach();
}

test('a page that is open and hidden shows notices by itself', async () => {
  const { context, page, here } = await member('raj');
  await here.click();
  await until(async () => (await here.getAttribute('aria-checked')) === 'true', 'it is on');
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }));
  const mei = await person(browser);
  const writer = await Widget.of(mei, kith, 'mei');
  await writer.chatWith('Raj Patel');
  await writer.say('Are you there?');
  await writer.say('It is about the shed');
  const unread = () =>
    page.evaluate(async () => (await globalThis.Kith.client()).conversation('@mei').unread);
  await until(async () => (await unread()) === 2, 'both messages have come');
  const shown = await until(async () => {
    const all = await notices(page);
    return all.length > 0 && all;
  }, 'a notice is shown');
  assert.deepEqual(shown, [{ title: 'Mei Tanaka (2)', body: 'It is about the shed', tag: 'kith @mei' }]);
  assertNoTrouble(context);
  await context.close();
  await mei.close();
});

test('a member turns notices on, chooses, and turns them off; the server knows', async () => {
  const { context, page, here } = await member('anna');
  assert.equal(await here.getAttribute('aria-checked'), 'false');
  assert.deepEqual(
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length),
    0,
  );
  await here.click();
  await until(async () => (await here.getAttribute('aria-checked')) === 'true', 'it is on');
  const settings = () => page.evaluate(async () => (await globalThis.Kith.client()).notifications());
  assert.equal((await settings()).devices, 1);

  await page.getByRole('switch', { name: 'Quiet hours' }).click();
  await page.getByLabel('From').fill('21:30');
  await page.getByRole('switch', { name: 'Show message text' }).click();
  await until(async () => {
    const { quiet, bodies } = await settings();
    return quiet?.from === 21 * 60 + 30 && quiet.to === 7 * 60 && bodies === false;
  }, 'the server has it');
  await assertAccessible(page, 'settings of notifications');

  await here.click();
  await until(async () => (await here.getAttribute('aria-checked')) === 'false', 'it is off');
  assert.equal((await settings()).devices, 0);
  assert.equal(await page.evaluate(() => localStorage.getItem('kith.push')), null);
  assertNoTrouble(context);
  await context.close();
});

test('a pushed notice is shown, replaced, and removed after reading', async () => {
  const { context, page, here } = await member('ingrid');
  await here.click();
  await until(async () => (await here.getAttribute('aria-checked')) === 'true', 'it is on');
  await deliver(page, { kith: '@ana', title: 'Ana', body: 'Hello', count: 1 });
  await until(async () => (await notices(page)).length === 1, 'it is shown');
  await deliver(page, { kith: '@ana', title: 'Ana', body: 'Are you there?', count: 2 });
  await until(async () => (await notices(page))[0]?.title === 'Ana (2)', 'the newer one takes its place');
  assert.deepEqual(await notices(page), [{ title: 'Ana (2)', body: 'Are you there?', tag: 'kith @ana' }]);
  await deliver(page, { kith: '@ana' });
  await until(async () => (await notices(page)).length === 0, 'it is gone');
  assertNoTrouble(context);
  await context.close();
});

test('a click on a notice opens the chat on the page to which it led', async () => {
  const { context, page } = await member('tom');
  await page.getByRole('switch', { name: 'Notify me in this browser' }).click();
  await until(() => page.evaluate(() => localStorage.getItem('kith.push') !== null), 'it is on');
  await page.goto(`${kith.url}/as/tom/#kith=%40anna`);
  await page.reload();
  const widget = new Widget(page);
  await widget.field.waitFor();
  assert.equal(await page.evaluate(() => location.hash), '');
  assertNoTrouble(context);
  await context.close();
});

test('a browser that forbids notices shows a hint, and no worker is registered', async () => {
  const { context, page, here } = await member('mei', { allows: false });
  await here.click();
  await page.getByText(/Your browser (blocked|blocks) notifications/).waitFor();
  assert.equal(await here.getAttribute('aria-checked'), 'false');
  assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
  assertNoTrouble(context);
  await context.close();
});

test('the worker is served as a script of its own', async () => {
  const answer = await fetch(`${kith.url}/kith-sw.js`);
  assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.doesNotMatch(answer.headers.get('cache-control') ?? '', /immutable/);
});

/** The shown notices of a context's browser. The opened page has no messenger. */
async function noticesOf(context, url) {
  const page = await context.newPage();
  await page.goto(`${url}/kith-sw.js`);
  const shown = await notices(page);
  await page.close();
  return shown;
}

test('a call rings in the browser of somebody who is away, until it is answered elsewhere or missed', async t => {
  const pushes = await pushService();
  const [caller, site] = await Promise.all([launchWithNotifications(...CALLS), Kith.start(pushes.settings)]);
  t.after(async () => {
    await caller.close();
    await site.stop();
    await pushes.close();
  });
  const away = await person(caller, { ...DESKTOP, bypassCSP: true });
  await takesPushes(away, pushes, site.url);
  const raj = await Widget.of(away, site, 'raj');
  const mei = await Widget.of(await person(caller), site, 'mei');
  await befriend([raj, mei], ['raj', 'mei']);
  await raj.tab('Me').click();
  const here = raj.page.getByRole('switch', { name: 'Notify me in this browser' });
  await here.click();
  await until(async () => (await here.getAttribute('aria-checked')) === 'true', 'it is on');
  await raj.page.close();
  const shows = async body => {
    const is = async () => (await noticesOf(away, site.url)).map(one => one.body).join() === body;
    await until(is, `the browser shows “${body}”`);
  };

  await call(mei, 'raj', 'Audio call');
  await shows('Incoming audio call');
  assert.deepEqual(await noticesOf(away, site.url), [
    { title: 'Mei Tanaka', body: 'Incoming audio call', tag: 'kith @mei' },
  ]);
  const { headers } = pushes.pushed.at(-1);
  assert.equal(headers.urgency, 'high');
  assert.ok(Number(headers.ttl) <= 45, headers.ttl);
  const phone = await Widget.of(await person(caller), site, 'raj');
  await button(phone, 'Accept with voice only').click();
  await shows('');
  assert.equal(JSON.parse(pushes.pushed.at(-1).text).call, 'over');
  await button(phone, 'Hang up').click();
  await phone.page.close();

  await call(mei, 'raj', 'Audio call');
  await shows('Incoming audio call');
  await button(mei, 'Hang up').click();
  await shows('Missed audio call');
  assertNoTrouble(away);
  await bye(mei);
});
