// The server is replaced while a page is open: first by one whose widget has other files, then by one without the
// page's build.

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertNoTrouble, launch, person, until, untilIn } from './browser.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** Messages of the browser when a server is down, or does not have a file. */
const EXPECTED = /ERR_|WebSocket connection to|Failed to load resource|dynamically imported module/;
const DRAFT = 'I was about to say';

/** The files of the running build under the names of another build, and the loader that requests them. */
async function olderBuild() {
  const builds = join(kith.data, 'widget-builds');
  const [own] = await readdir(builds);
  const names = (await readdir(join(builds, own))).filter(name => !/\.(br|map)$/.test(name));
  assert.ok(names.length > 10, `a build has many parts: ${names}`);
  // Replace longer names first, because one name may be the end of another.
  const byLength = names.toSorted((a, b) => b.length - a.length);
  const renamed = name => name.replace(/\.(\w+)$/, '-old.$1');
  const rewritten = text => byLength.reduce((all, name) => all.replaceAll(name, renamed(name)), text);
  const files = new Map();
  for (const name of names)
    files.set(renamed(name), rewritten(await readFile(join(builds, own, name), 'utf8')));
  const loader = rewritten(await (await fetch(`${kith.url}/kith.js`)).text());
  assert.ok(
    [...files.keys()].some(name => loader.includes(name)),
    'the loader asks for the older build',
  );
  return { files, loader, folder: join(builds, '0000000000000000') };
}

/** Writes the files that the server of that build would have left on disk. */
async function leave({ files, folder }) {
  await mkdir(folder);
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  const yesterday = Date.now() / 1000 - 86_400;
  await utimes(folder, yesterday, yesterday);
}

/** Answers requests as the older server does, with its loader and its files. */
async function serveOlder(context, { files, loader }) {
  const type = name => (name.endsWith('.css') ? 'text/css' : 'text/javascript; charset=utf-8');
  const headers = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };
  await context.route('**/kith.js', route =>
    route.fulfill({ body: loader, contentType: type('kith.js'), headers }),
  );
  await context.route('**/kith/*-old.*', route => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1);
    const body = files.get(name);
    return body === undefined
      ? route.fulfill({ status: 404 })
      : route.fulfill({ body, contentType: type(name), headers });
  });
}

test('a page that is open while the server is replaced fetches late parts of its build, and keeps its draft', async () => {
  const older = await olderBuild();
  const context = await person(browser);
  await serveOlder(context, older);
  const answers = [];
  context.on('response', response => {
    const { pathname } = new URL(response.url());
    if (/^\/kith(\.js$|\/)/.test(pathname)) answers.push({ pathname, status: response.status() });
  });
  const anna = await Widget.of(context, kith, 'anna');
  await anna.chatWith('Raj Patel');
  await anna.say('before the upgrade');
  await anna.becomes('before the upgrade', 'sent');
  await anna.field.fill(DRAFT);
  assert.ok(answers.length > 1 && answers.slice(1).every(({ pathname }) => pathname.includes('-old.')));
  await anna.page.evaluate(() => {
    globalThis.sameDocument = true;
  });

  // Start a new server on the same data. The files of its build have other names.
  await kith.kill();
  await leave(older);
  await context.unrouteAll();
  await kith.up();
  answers.length = 0;
  await until(async () => (await anna.presence()) !== 'Reconnecting…', 'the page is connected again');
  await anna.page.getByRole('button', { name: 'Emoji' }).click();
  await anna.page.locator('kith-widget .picker').waitFor();
  // The part of the picker may have been loaded before the upgrade. This part was not.
  const late = [...older.files.keys()].find(name => /^moderation-.*\.js$/.test(name));
  await anna.page.evaluate(url => import(url), `${kith.url}/kith/${late}`);
  assert.ok(
    answers.some(({ pathname, status }) => pathname.includes('-old.') && status === 200),
    `a late part of the older build comes from the new server: ${JSON.stringify(answers)}`,
  );
  assert.ok(
    answers.every(({ status }) => status < 400),
    JSON.stringify(answers),
  );
  await anna.page.keyboard.press('Escape');
  assert.equal(await anna.field.inputValue(), DRAFT);
  assert.equal(await anna.page.getByRole('button', { name: 'Reload' }).count(), 0);

  // After more upgrades the build is deleted. The page says so once, and the draft survives the reload.
  await kith.kill();
  await rm(older.folder, { recursive: true });
  await kith.up();
  await until(async () => (await anna.presence()) !== 'Reconnecting…', 'the page is connected again');
  await anna.back();
  await anna.tab('Me').click();
  await anna.page.getByRole('button', { name: 'Check microphone, camera and network' }).click();
  const reload = anna.page.getByRole('button', { name: 'Reload' });
  await reload.waitFor();
  assert.equal(await reload.count(), 1);
  // The text is shown once, and announced once to screen readers.
  const said = anna.page.getByRole('region', { name: 'Messenger' });
  await said.getByText('A new version is available. Your draft is kept.').waitFor();
  assert.equal(await anna.page.evaluate(() => globalThis.sameDocument), true, 'nothing reloads by itself');
  answers.length = 0;
  await reload.click();
  await untilIn(anna.page, () => globalThis.sameDocument === undefined, 'the page has loaded again');
  if (!(await anna.panel.isVisible())) await anna.show();
  await anna.chatWith('Raj Patel');
  assert.equal(await anna.field.inputValue(), DRAFT);
  assert.ok(
    answers.length > 1 && !answers.some(({ pathname }) => pathname.includes('-old.')),
    'no stale loader',
  );
  assert.ok(
    answers.every(({ status }) => status < 400),
    JSON.stringify(answers),
  );
  assertNoTrouble(context, EXPECTED);
  await context.close();
});
