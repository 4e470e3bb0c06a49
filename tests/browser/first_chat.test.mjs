// The downloads of a page until a member can read and write in the first chat. All other parts of the widget are
// blocked until then.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { after, before, test } from 'node:test';
import { assertNoTrouble, DESKTOP, launch, PHONE, person, untilIn } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

const MAX_REQUESTS = 12;
const MAX_BYTES = 75_000;
/** Files that the first chat needs, such as `client-1a2b3c4.js`: a bundle, or a language. */
const NEEDED = /^\/kith(\.js|\/(client|app|chat|rolldown-runtime|[a-z]{2})-[\w-]{7}\.js)$/;

let browser;
let kith;
let host;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  host = await hostPage(kith, 'forum');
  await kith.addSite('forum', '--origin', host.origin);
  await kith.setSite('forum', 'requests.on=false');
});
after(async () => {
  await browser.close();
  await kith.stop();
  await host.close();
});

/** The size of a file with gzip, as a browser without Brotli gets it. */
async function gzipped(url) {
  const [response] = await once(get(url, { headers: { 'accept-encoding': 'gzip' } }), 'response');
  assert.equal(response.headers['content-encoding'], 'gzip', url);
  let bytes = 0;
  for await (const piece of response) bytes += piece.length;
  return bytes;
}

async function chatting(context, user, other, lang) {
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=${user}&lang=${lang}`);
  await untilIn(page, () => globalThis.Kith !== undefined, 'the loader is there');
  await page.evaluate(name => globalThis.Kith.open(name), other);
  const widget = new Widget(page);
  await widget.field.waitFor();
  return widget;
}

for (const [lang, options] of [
  ['en', DESKTOP],
  ['ar', PHONE],
]) {
  test(`the first chat is usable after few requests and bytes: ${lang}`, async t => {
    const reader = `reader-${lang}`;
    const contexts = [await person(browser, DESKTOP), await person(browser, options)];
    // A user exists after the first sign-in.
    const past = await person(browser, DESKTOP);
    const seen = await chatting(past, reader, 'nobody', 'en');
    const signedIn = async () => (await globalThis.Kith.client()).me() !== undefined;
    await untilIn(seen.page, signedIn, `${reader} has signed in`);
    await past.close();
    const writer = await chatting(contexts[0], 'writer', reader, 'en');
    await writer.say('Can you read this?');
    await writer.becomes('Can you read this?', 'sent');

    /** All requests, with the token and the connection, but without blocked parts: the chat does not need them. */
    const requests = [];
    let release;
    const released = new Promise(done => {
      release = done;
    });
    let isUsable = false;
    contexts[1].on('requestfinished', request => {
      const counts = request.url().startsWith(kith.url) || request.url().includes('/token');
      if (counts && !isUsable) requests.push(request.url());
    });
    contexts[1].on('page', page => page.on('websocket', socket => requests.push(socket.url())));
    await contexts[1].route(`${kith.url}/kith/**`, async route => {
      if (!NEEDED.test(new URL(route.request().url()).pathname)) await released;
      await route.fallback();
    });
    const widget = await chatting(contexts[1], reader, 'writer', lang);
    await widget.sees('Can you read this?');
    await widget.page.getByRole('heading', { name: 'writer of the host' }).waitFor();
    await widget.say('Yes.');
    await widget.becomes('Yes.', 'sent');
    await writer.sees('Yes.');

    isUsable = true;
    const files = requests.filter(url => NEEDED.test(new URL(url).pathname));
    const sizes = await Promise.all(files.map(gzipped));
    const bytes = sizes.reduce((sum, one) => sum + one, 0);
    const names = requests.map(url => new URL(url).pathname);
    t.diagnostic(`${requests.length} requests, ${bytes} bytes: ${names.join(' ')}`);
    assert.ok(files.length >= 5, `the shell and the bundle of the first chat: ${names.join(' ')}`);
    assert.ok(requests.length <= MAX_REQUESTS, `${requests.length} requests: ${names.join(' ')}`);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);

    // The other parts load when they are no longer blocked.
    release();
    await widget.page.locator('kith-widget .attach-add').waitFor();
    for (const context of contexts) {
      assertNoTrouble(context);
      await context.close();
    }
  });
}
