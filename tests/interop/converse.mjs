// Converse.js in Chromium against a running node, by WebSocket and by BOSH: sign-in by its form, contacts, and a chat with a member
// in the widget, which runs in Chromium, too.

import { join } from 'node:path';
import { launch, person } from '../browser/browser.mjs';
import { Widget } from '../browser/widget.mjs';
import { boshUrl, check, end, node, webSocketUrl } from './checks.mjs';
import { bubble, openConverse, serveConverse, signIn } from './converse_page.mjs';

const { webPort, domain, user, password, other } = node;

const TRANSPORTS = { WebSocket: { websocket_url: webSocketUrl }, BOSH: { bosh_service_url: boshUrl } };

const shown = locator =>
  locator
    .first()
    .waitFor({ timeout: 10_000 })
    .then(() => true);

/** A room of the demo community with both as members. */
const ROOM = 'Garden talk';

async function checkRoom(page, name) {
  const inList = page.locator('converse-rooms-list .open-room', { hasText: ROOM });
  await check(`${name}: a room is in the list by its bookmark`, shown(inList));
  await inList.first().click();
  const room = page.locator('converse-muc');
  const field = room.locator('textarea.chat-textarea');
  await check(`${name}: the room opens`, shown(field));
  await widget.back();
  await widget.tab('Rooms').click();
  await widget.page.locator('kith-widget .room-row .row-main', { hasText: ROOM }).first().click();
  await widget.field.waitFor();

  const hello = `Hello room from Converse by ${name}`;
  await field.fill(hello);
  await field.press('Enter');
  await check(
    `${name}: a message reaches the room in the widget`,
    widget.sees(hello).then(() => true),
  );
  const reply = `Hello room from the widget to ${name}`;
  await widget.say(reply);
  await check(`${name}: a message of the room arrives`, shown(bubble(room, reply)));
  await check(
    `${name}: the member is among the occupants`,
    shown(room.locator('converse-muc-sidebar').getByText(/Mei/)),
  );
  if (process.env.SHOTS)
    await page.screenshot({ path: join(process.env.SHOTS, `converse-room-${name}.png`) });
  await widget.back();
  await widget.chatWith('Anna');
}

const server = await serveConverse(TRANSPORTS);
const browser = await launch();
const widget = await Widget.of(await person(browser), { url: `http://127.0.0.1:${webPort}` }, other);
await widget.chatWith('Anna');

for (const name of Object.keys(TRANSPORTS)) {
  const page = await openConverse(browser, server, name);
  await signIn(page, `${user}@${domain}`, password);
  await check(`${name}: sign in by the form`, shown(page.locator('converse-user-profile')));
  const contact = page.locator('converse-roster').getByText(other);
  await check(`${name}: the contact is in the roster`, shown(contact));

  await contact.first().click();
  const field = page.locator('textarea.chat-textarea').first();
  await check(`${name}: a chat opens`, shown(field));
  const hello = `Hello from Converse by ${name}`;
  await field.fill(hello);
  await field.press('Enter');
  await check(
    `${name}: a message reaches the widget`,
    widget.sees(hello).then(() => true),
  );
  await widget.field.pressSequentially('Hel');
  await check(`${name}: typing of the widget arrives`, shown(page.getByText(/is typing/)));
  const reply = `Hello to Converse by ${name}`;
  await widget.say(reply);
  await check(`${name}: a message of the widget arrives`, shown(bubble(page, reply)));
  await check(
    `${name}: the widget learns that it is read`,
    widget.becomes(reply, 'read').then(() => true),
  );

  await widget.act(reply, 'Edit');
  await widget.say(`${reply}, corrected`);
  await check(`${name}: a correction of the widget arrives`, shown(bubble(page, `${reply}, corrected`)));
  await field.press('ArrowUp');
  await field.fill(`${hello}, corrected`);
  await field.press('Enter');
  await check(
    `${name}: a correction reaches the widget`,
    widget.sees(`${hello}, corrected`).then(() => true),
  );
  await check(
    `${name}: it has replaced the message`,
    widget.texts().then(texts => !texts.includes(hello)),
  );
  await widget.message(`${hello}, corrected`).press('Enter');
  await widget.page.getByRole('menuitemcheckbox', { name: '👍' }).click();
  await check(
    `${name}: a reaction of the widget arrives`,
    shown(page.locator('converse-reactions', { hasText: '👍' })),
  );
  await widget.say(`Delete me, ${name}`);
  await check(`${name}: a message to delete arrives`, shown(bubble(page, `Delete me, ${name}`)));
  await widget.becomes(`Delete me, ${name}`, 'sent');
  await widget.act(`Delete me, ${name}`, 'Delete');
  await widget.page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await check(`${name}: a deletion of the widget arrives`, shown(page.locator('.chat-msg--retracted')));
  if (name === 'BOSH') {
    // This browser has never seen it.
    await check(
      `${name}: the history comes from the archive`,
      shown(bubble(page, 'Hello to Converse by WebSocket, corrected')),
    );
  }
  // A red square, which the server encodes anew.
  const square = await widget.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(64, 64);
    const context = canvas.getContext('2d');
    context.fillStyle = '#c00';
    context.fillRect(0, 0, 64, 64);
    const bytes = await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer();
    return btoa(String.fromCharCode(...new Uint8Array(bytes)));
  });
  const shots = widget.page.locator('kith-widget .shot');
  const before = await shots.count();
  await page
    .locator('input.fileupload')
    .first()
    .setInputFiles({ name: 'square.png', mimeType: 'image/png', buffer: Buffer.from(square, 'base64') });
  await check(`${name}: an uploaded picture is a picture in the widget`, shown(shots.nth(before)));
  await check(`${name}: and in the app`, shown(page.locator('.chat-msg__media img, .chat-image')));
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `converse-${name}.png`) });
  await checkRoom(page, name);
  await page.context().close();
}
await browser.close();
server.close();
end();
