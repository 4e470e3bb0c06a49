// Converse.js in Chromium, on a page of this machine.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('node_modules/converse.js/dist/', import.meta.url));
const TYPES = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** The page with Converse.js. `transport`: the setting with the address of the server. */
const pageOf = transport => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Converse</title><link rel="stylesheet" href="/converse.min.css"></head>
<body class="converse-fullscreen"><script type="module">
import converse from '/converse.min.js';
converse.initialize(${JSON.stringify({
  ...transport,
  authentication: 'login',
  assets_path: '/',
  discover_connection_methods: false,
  i18n: 'en',
  play_sounds: false,
  show_desktop_notifications: 'none',
  view_mode: 'fullscreen',
})});
</script></body></html>`;

/**
 * Serves Converse.js from this machine, so that the test needs no network. `transports`: for the path of each page, the setting with the address of
 * the server.
 */
export async function serveConverse(transports) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://host');
    const transport = transports[pathname.slice(1)];
    if (transport) return response.setHeader('content-type', 'text/html').end(pageOf(transport));
    const path = join(DIST, pathname);
    const bytes = path.startsWith(DIST) ? await readFile(path).catch(() => undefined) : undefined;
    if (bytes === undefined) return response.writeHead(404).end();
    return response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream').end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** The messages of the open chat with that text. */
export const bubble = (page, text) => page.locator('.chat-msg__text', { hasText: text });

/** Opens Converse.js in a browser of its own. It also asks other hosts for pictures, which no test needs. */
export async function openConverse(browser, server, name) {
  const context = await browser.newContext({ locale: 'en-GB' });
  await context.route(
    url => url.hostname !== '127.0.0.1',
    route => route.abort(),
  );
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/${name}`);
  return page;
}

export async function signIn(page, address, password) {
  await page.locator('input[name=jid]').fill(address);
  await page.locator('input[name=password]').fill(password);
  await page.locator('converse-login-form [type=submit]').click();
}
