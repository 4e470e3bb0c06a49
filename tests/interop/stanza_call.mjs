// Calls between the widget and stanza's Jingle, both in Chromium, with voice and pictures: a call of the app (XEP-0353), one that begins
// without a proposal, and a call of the widget.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { untilIn } from '../browser/browser.mjs';
import { browserOf, button, call, card, flows, launchForCalls } from '../browser/calling.mjs';
import { Widget } from '../browser/widget.mjs';
import { check, end, node, webSocketUrl } from './checks.mjs';

const { webPort, domain, user, password, other } = node;
/** The bundler of the widget. */
const { rolldown } = createRequire(new URL('../../widget/package.json', import.meta.url))('rolldown');

/** stanza for a page, as one script. */
async function bundle() {
  const input = fileURLToPath(new URL('stanza_page.mjs', import.meta.url));
  const made = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await made.generate({ format: 'esm' });
  return output[0].code;
}

async function serve(script) {
  const server = createServer(({ url }, response) => {
    if (url === '/app.js') return response.setHeader('content-type', 'text/javascript').end(script);
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><script type="module" src="/app.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const server = await serve(await bundle());
const browser = await launchForCalls();
const widget = await Widget.of(await browserOf(browser), { url: `http://127.0.0.1:${webPort}` }, other);
const page = await (await browserOf(browser)).newPage();
page.on('pageerror', error => console.error(`        ${error.message}`));
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await untilIn(page, () => globalThis.app !== undefined, 'the page has stanza');
/** Calls a function of the page's `app`. */
const app = (name, ...given) =>
  page.evaluate(([name, given]) => globalThis.app[name](...given), [name, given]);
const done = promise => promise.then(() => true);
/** Media may take longer than a check waits. */
const flowing = async promise =>
  promise.then(
    () => true,
    () => false,
  );

await check(
  'sign in',
  app('signIn', { jid: `${user}@${domain}`, password, resource: 'stanza', webSocketUrl }),
);
const to = `${other}@${domain}`;
const caps = await check('the contact has a resource of the widget', app('widgetOf', to));
const features = await check('it takes calls', app('features', caps));
await check('with voice', features?.includes('urn:xmpp:jingle:apps:rtp:audio'));

for (const [name, start] of [
  ['a call of the app', 'propose'],
  ['a call without a proposal', 'begin'],
]) {
  await app(start, to, ['audio']);
  await check(`${name}: the widget rings`, done(card(widget).waitFor()));
  if (start === 'propose') await check(`${name}: the app hears that it rings`, app('hears', 'ringing'));
  await button(widget, 'Accept with voice only').click();
  if (start === 'propose') await check(`${name}: it is accepted`, app('proceed'));
  await check(`${name}: the app hears the widget`, await app('flows', ['audio']));
  await check(`${name}: the widget hears the app`, await flowing(flows(widget, false)));
  await button(widget, 'Hang up').click();
  await check(`${name}: the app learns of the end`, app('ended'));
}

/** In the window of the call, before its entry in the chat. */
const again = button(widget, 'Call again').last();
await call(widget, user, 'Video call');
await check('a call of the widget: the app gets the proposal', app('hears', 'propose'));
await app('accept', to);
await check(
  'a call of the widget: the app sees and hears the widget',
  await app('flows', ['audio', 'video']),
);
await check('a call of the widget: the widget sees and hears the app', await flowing(flows(widget)));
await app('hangUp');
await check('a call of the widget: the widget learns of the end', done(again.waitFor()));

await again.click();
await check('the app gets another proposal', app('hears', 'propose'));
await app('reject', to);
await check('the widget learns that it is declined', done(again.waitFor()));

await browser.close();
server.close();
end();
