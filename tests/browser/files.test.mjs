// Files: pasted, chosen and dropped; shown to the other member; cancelled, refused, and resumed after the server was
// down.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertNoTrouble,
  DESKTOP,
  launch,
  PHONE,
  person,
  shot,
  until,
} from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { Kith } from './kith.mjs';
import { asMembers, Widget } from './widget.mjs';

let browser;
let kith;
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
});
after(async () => {
  await browser.close();
  await kith.stop();
});

/** Messages of the browser while the server is down. */
const WITHOUT_SERVER = /WebSocket|ERR_CONNECTION|ERR_EMPTY|Failed to (load|fetch)/;

const as = (...asked) => asMembers(browser, kith, ...asked);

/** Two members who have written to each other, both with the chat open. */
async function acquainted(one, two, nameOfOne, nameOfTwo) {
  await one.chatWith(nameOfTwo);
  await two.chatWith(nameOfOne);
  await one.say('May I show you something?');
  await two.sees('May I show you something?');
  await two.say('Of course');
  await one.sees('Of course');
}

/** Pastes pictures into the field, like those of a camera or a screenshot. */
function paste(widget, ...sizes) {
  return widget.field.evaluate(async (field, all) => {
    const data = new DataTransfer();
    for (const [width, height] of all) {
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext('2d');
      const sky = context.createLinearGradient(0, 0, width, height);
      for (const [at, colour] of [
        [0, '#1d3557'],
        [0.5, '#e9a03b'],
        [1, '#f1faee'],
      ])
        sky.addColorStop(at, colour);
      context.fillStyle = sky;
      context.fillRect(0, 0, width, height);
      const blob = await canvas.convertToBlob({ type: 'image/jpeg' });
      data.items.add(new File([blob], `sunset ${width}.jpg`, { type: blob.type }));
    }
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    field.dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error('nobody took the files');
  }, sizes);
}

const ready = (widget, count) =>
  until(
    async () => (await widget.page.locator('kith-widget .attach-item[data-state="done"]').count()) === count,
    `${count} files are ready`,
  );
const shots = widget => widget.page.locator('kith-widget .shot');
const seen = (widget, count) =>
  until(async () => {
    // Pictures are blurred at first, because the members are no contacts.
    const veiled = widget.page.locator('kith-widget .shot.is-veiled');
    if ((await veiled.count()) > 0) await veiled.first().click();
    return (await widget.page.locator('kith-widget .shot .picture.is-here').count()) === count;
  }, `${count} pictures are drawn`);

test('a pasted picture is seen by the other one, and in full', async () => {
  await as(['ingrid', 'raj'], async (ingrid, raj) => {
    await acquainted(ingrid, raj, 'Ingrid Haug', 'Raj Patel');
    await paste(ingrid, [1200, 800]);
    await ingrid.page.getByText('Ready to send').waitFor();
    await assertAccessible(ingrid.page, 'a picture that is about to be sent');
    await ingrid.field.fill('From the hill');
    await ingrid.field.press('Enter');
    await raj.sees('From the hill');
    await seen(raj, 1);
    await seen(ingrid, 1);
    await assertAccessible(raj.page, 'a picture in a chat');
    const box = await shots(raj).boundingBox();
    assert.deepEqual([Math.round(box.width), Math.round(box.height)], [240, 160], 'of its shape');

    await shots(raj).click();
    const viewer = raj.page.getByRole('dialog', { name: /sunset 1200/ });
    await viewer.locator('.picture.is-here').waitFor();
    await assertAccessible(raj.page, 'a picture in full');
    assert.equal(await viewer.locator('canvas').evaluate(canvas => canvas.width), 1200);
    await raj.page.keyboard.press('Escape');
    await until(async () => (await viewer.count()) === 0, 'Escape closes it');
    assert.ok(await raj.panel.isVisible(), 'and nothing else');

    // After a reload the page shows the same pictures, in space that was reserved for them.
    await raj.page.reload();
    await raj.show();
    const row = raj.page.locator('kith-widget .chat-row', { hasText: 'Ingrid Haug' });
    await row.locator('.row-main').click();
    await seen(raj, 1);
  });
});

test('a picture that is higher than the window fits, and is enlarged by wheel, keys and double click', async () => {
  await as(['jonas', 'sofia'], async (jonas, sofia) => {
    await acquainted(jonas, sofia, 'Jonas', 'Sofia');
    await paste(jonas, [400, 3000]);
    await ready(jonas, 1);
    await jonas.say('the tower');
    await shots(jonas).waitFor();
    const { page } = jonas;
    await shots(jonas).click();
    const viewer = page.locator('kith-widget .viewer');
    const picture = viewer.locator('.picture.is-here');
    await picture.waitFor();
    const size = () => picture.evaluate(one => one.getBoundingClientRect().toJSON());
    const whole = await size();
    const { width, height } = page.viewportSize();
    assert.ok(whole.top >= 0 && whole.bottom <= height && whole.right <= width, JSON.stringify(whole));
    await page.mouse.move(width / 2, height / 2);
    await page.mouse.wheel(0, -400);
    await until(async () => (await size()).height > whole.height * 1.5, 'the wheel enlarges it');
    const enlarged = await size();
    await page.mouse.down();
    await page.mouse.move(width / 2, height / 2 + 60, { steps: 4 });
    await page.mouse.up();
    await until(async () => (await size()).top > enlarged.top + 30, 'it is dragged');
    await viewer.waitFor();
    await page.keyboard.press('0');
    await until(async () => (await size()).height === whole.height, '0 shows the whole');
    await page.keyboard.press('+');
    await until(async () => (await size()).height > whole.height, '+ enlarges');
    await page.keyboard.press('-');
    await until(async () => (await size()).height === whole.height, '- makes it smaller');
    await page.mouse.dblclick(width / 2, height / 2);
    await until(async () => (await size()).height > whole.height * 2, 'a double click enlarges');
    await viewer.getByRole('button', { name: 'Zoom out' }).click();
    await assertAccessible(page, 'an enlarged picture');
    await shot(page, 'viewer');
    await page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    assert.ok(await jonas.panel.isVisible());
  });
});

test('several files go out with one message, and the arrows lead through its pictures', async () => {
  await as(['anna', 'mei'], async (anna, mei) => {
    await acquainted(anna, mei, 'Anna Lindqvist', 'Mei Tanaka');
    await paste(anna, [300, 200], [200, 300]);
    await ready(anna, 2);
    await anna.page.locator('kith-widget input[type=file]').setInputFiles([
      { name: 'Rental agreement.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 …') },
      { name: 'Not this one.txt', mimeType: 'text/plain', buffer: Buffer.from('x') },
    ]);
    await ready(anna, 4);
    await anna.page.getByRole('button', { name: 'Remove Not this one.txt' }).click();
    await ready(anna, 3);
    await anna.page.getByRole('button', { name: 'Send', exact: true }).click();
    await seen(mei, 2);
    const file = mei.page.getByRole('link', { name: /Download Rental agreement\.pdf/ });
    const download = mei.page.waitForEvent('download');
    await file.click();
    assert.equal((await download).suggestedFilename(), 'Rental agreement.pdf');
    await mei.back();
    await mei.tab('Chats').click();
    const preview = mei.page.locator('kith-widget .chat-row', { hasText: 'Anna Lindqvist' });
    assert.match(
      await preview.textContent(),
      /📎 sunset 300\.jpg, 📎 sunset 200\.jpg, 📎 Rental agreement\.pdf/,
    );
    await preview.locator('.row-main').click();
    await shots(mei).first().click();
    await mei.page.getByRole('dialog', { name: /sunset 300/ }).waitFor();
    await mei.page.keyboard.press('ArrowRight');
    await mei.page.getByRole('dialog', { name: /sunset 200/ }).waitFor();
    await mei.page.keyboard.press('ArrowRight');
    await mei.page.keyboard.press('ArrowLeft');
    await mei.page.getByRole('dialog', { name: /sunset 300/ }).waitFor();
    await mei.page.keyboard.press('Escape');
  });
});

test('a file that cannot be sent shows the reason, and can be removed', async () => {
  await as(
    ['yusuf', 'sofia'],
    async (yusuf, sofia) => {
      await acquainted(yusuf, sofia, 'Yusuf', 'Sof');
      const { page } = yusuf;
      await page.locator('kith-widget input[type=file]').setInputFiles({
        name: 'broken.png',
        mimeType: 'image/png',
        buffer: Buffer.from('\x89PNG\r\n\x1a\n and nothing of a picture', 'latin1'),
      });
      await page
        .locator('kith-widget .attach-state', { hasText: 'This picture is damaged or not supported' })
        .waitFor();
      await assertAccessible(page, 'a file that failed');
      await yusuf.field.fill('Without it');
      await page.getByRole('button', { name: 'Remove broken.png' }).click();
      await yusuf.field.press('Enter');
      await sofia.sees('Without it');
    },
    { except: /422/ },
  );
});

test('an upload goes on where it was after the server was away', async () => {
  await as(
    ['anna', 'raj'],
    async (anna, raj) => {
      await acquainted(anna, raj, 'Anna Lindqvist', 'Raj Patel');
      const bytes = Buffer.alloc(6_000_000, 'Kith ');
      let pieces = 0;
      const offsets = [];
      await anna.page.route('**/v1/files/*/*', async route => {
        const request = route.request();
        if (request.method() === 'PATCH') {
          pieces += 1;
          offsets.push(Number(await request.headerValue('upload-offset')));
          if (pieces === 3) {
            await kith.kill();
            await route.abort();
            return;
          }
        }
        await route.continue();
      });
      await anna.page
        .locator('kith-widget input[type=file]')
        .setInputFiles({ name: 'film.bin', mimeType: 'application/octet-stream', buffer: bytes });
      await anna.page.getByText('Waiting for connection').waitFor();
      // Send the message before the upload is complete. The text waits for the upload.
      await anna.field.fill('The film');
      await anna.field.press('Enter');
      await anna.page.getByText('Sends when the upload is complete').waitFor();
      await kith.up();
      await until(async () => (await raj.texts()).includes('The film'), 'it arrives', 90_000);
      assert.equal(offsets.filter(offset => offset === 0).length, 1, `from the beginning once: ${offsets}`);
      const link = raj.page.getByRole('link', { name: /Download film\.bin, 6/ });
      const address = await link.getAttribute('href');
      const got = Buffer.from(await (await fetch(new URL(address, kith.url))).arrayBuffer());
      assert.ok(got.equals(bytes), 'every byte is at its place');
    },
    { except: WITHOUT_SERVER },
  );
});

test('a page that allows nothing but the connection shows pictures too', async () => {
  await kith.addSite('gallery', '--mode', 'open', '--origin', '*');
  const host = await hostPage(kith, 'gallery');
  const visit = async name => {
    const context = await person(browser, DESKTOP);
    const page = await context.newPage();
    await page.goto(`${host.origin}/?as=${name}`);
    const widget = new Widget(page);
    await widget.show();
    return { context, widget };
  };
  const [one, two] = [await visit('one'), await visit('two')];
  await acquainted(one.widget, two.widget, 'one of the host', 'two of the host');
  await paste(one.widget, [900, 900]);
  await ready(one.widget, 1);
  await one.widget.field.press('Enter');
  await seen(two.widget, 1);
  for (const { context } of [one, two]) {
    assertNoTrouble(context);
    await context.close();
  }
  await host.close();
});

test('on a phone, dark and from right to left', async () => {
  await as(
    ['mei', 'ingrid'],
    async (mei, ingrid) => {
      await acquainted(mei, ingrid, 'Mei Tanaka', 'Ingrid Haug');
      await paste(mei, [800, 1200], [600, 600]);
      await ready(mei, 2);
      await assertAccessible(mei.page, 'files to send on a phone');
      await mei.page.getByRole('button', { name: 'Send', exact: true }).tap();
      await seen(ingrid, 2);
      await assertAccessible(ingrid.page, 'pictures on a phone');
      await shots(ingrid).first().tap();
      await ingrid.page.getByRole('dialog', { name: /sunset 800/ }).waitFor();
      await ingrid.page.getByRole('button', { name: 'Close' }).last().tap();
    },
    { ...PHONE, colorScheme: 'dark', locale: 'ar' },
  );
});
