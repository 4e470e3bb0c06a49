// Previews of links: the server requests a page on this machine, and the widget shows its preview below the message.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { asMembers } from './widget.mjs';

let browser;
let kith;
let pages;
let asked = 0;
before(async () => {
  pages = createServer((request, answer) => {
    asked += 1;
    if (request.url === '/lake.png') {
      answer.setHeader('content-type', 'image/png');
      return answer.end(PICTURE);
    }
    answer.setHeader('content-type', 'text/html; charset=utf-8');
    answer.end(`<!doctype html><title>Not this</title><meta property="og:title" content="A new lake &lt;b&gt;">
      <meta property="og:description" content="Behind the hill"><meta property="og:site_name" content="Hikers">
      <meta property="og:image" content="/lake.png"><body>`);
  });
  await new Promise(done => pages.listen(0, '127.0.0.1', done));
  [browser, kith] = await Promise.all([launch(), Kith.start({ KITH_PREVIEWS_PRIVATE: 'true' })]);
  await kith.command('site', 'set', 'demo', 'previews.on=true');
});
after(async () => {
  await browser.close();
  await kith.stop();
  pages.close();
});

/** A PNG with one red pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

test('a link has a preview on all devices, until its sender removes the preview', async () => {
  await asMembers(browser, kith, ['anna', 'raj'], async (anna, raj) => {
    await anna.chatWith('Raj Patel');
    await raj.chatWith('Anna Lindqvist');
    const link = `http://127.0.0.1:${pages.address().port}/lake`;
    const preview = widget => widget.page.locator('kith-widget a.preview');
    // The node needs up to two seconds to read the settings of the site.
    await until(async () => {
      await anna.say(`look: ${link}?${Date.now()}`);
      await new Promise(done => setTimeout(done, 1_000));
      return (await preview(raj).count()) > 0;
    }, 'a preview comes');
    for (const widget of [anna, raj]) {
      const card = preview(widget).last();
      await card.getByText('A new lake <b>').waitFor();
      await card.getByText('Hikers').waitFor();
      await card.locator('canvas.is-here').waitFor();
      assert.match(await card.getAttribute('rel'), /noopener/);
    }
    await assertAccessible(raj.page, 'a preview');
    const before = await preview(raj).count();
    await anna.page.locator('kith-widget [data-message]:has(a.preview)').last().press('Enter');
    await anna.page.getByRole('menuitem', { name: 'Remove preview' }).click();
    await until(async () => (await preview(raj).count()) === before - 1, 'it is gone');
    assert.ok(asked >= 2, 'the server has asked for the page and its picture');
  });
});
