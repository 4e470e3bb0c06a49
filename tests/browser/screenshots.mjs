// Takes the pictures of the README from a real demo: `npm --prefix widget run screenshots`.

import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launch, PHONE, person } from './browser.mjs';
import { befriend } from './calling.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

const folder = new URL('../../docs/images/', import.meta.url);
/** The maximum size of a picture, so that the README loads quickly. */
const MOST_BYTES = 200_000;

await mkdir(folder, { recursive: true });
const [browser, kith] = await Promise.all([
  // On a machine without a network two browsers can connect only through loopback.
  launch('--allow-loopback-in-peer-connection', '--disable-features=WebRtcHideLocalIpsWithMdns'),
  Kith.start(),
]);
try {
  const raj = await Widget.of(await person(browser), kith, 'raj');
  const mei = await Widget.of(await person(browser), kith, 'mei');
  await raj.chatWith('Anna Lindqvist');
  await mei.chatWith('Anna Lindqvist');
  await mei.say('The hose is back in the shed, all yours.');

  const anna = await Widget.of(
    await person(browser, { viewport: { width: 1280, height: 800 } }),
    kith,
    'anna',
  );
  await anna.chatWith('Raj Patel');
  await talk(anna, raj);
  await raj.field.pressSequentially('See you there');
  await anna.page.getByText(/Raj Patel\u2069? is typing/).waitFor({ state: 'attached' });
  await take(anna.page, 'widget-desktop');

  const phone = await Widget.of(await person(browser, { ...PHONE, deviceScaleFactor: 1.5 }), kith, 'anna');
  await phone.page.locator('kith-widget .chat-row').first().waitFor();
  await take(phone.page, 'widget-phone');

  await room(anna, raj, mei);
  await take(anna.page, 'widget-room');

  const context = await person(browser, { viewport: { width: 1120, height: 720 }, colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(`${kith.url}/full/anna`);
  const row = page.locator('kith-widget .chat-row', {
    has: page.locator('.row-name', { hasText: 'Raj Patel' }),
  });
  await row.locator('.row-main').click();
  await page.locator('kith-widget [data-message]').first().waitFor();
  await take(page, 'widget-dark');
  await calls();
} finally {
  await browser.close();
  await kith.stop();
}

async function talk(anna, raj) {
  const lines = [
    [anna, 'Hi Raj! Are you coming to the plant swap on Saturday?'],
    [raj, 'Wouldn’t miss it. I have far too many chilli seedlings 🌶️'],
    [anna, 'Swap you for tomatoes? Six kinds this year.'],
    [raj, 'Deal. Do you need a hand with the tables?'],
    [anna, 'Yes please, from nine at the gate.'],
  ];
  for (const [who, text] of lines) {
    await who.say(text);
    await (who === anna ? raj : anna).sees(text);
  }
  await anna.becomes(lines.at(-1)[1], 'read');
}

async function room(anna, raj, mei) {
  await anna.back();
  await anna.createRoom('Plant swap');
  await anna.say('Welcome! Bring **seedlings**, pots and labels 🌱');
  for (const one of [raj, mei]) {
    await one.back();
    await one.joinRoom('Plant swap');
  }
  await raj.say('I have far too many chilli seedlings:\n- Habanero\n- Lemon Drop\n- Padrón');
  await mei.page.getByText('Lemon Drop', { exact: true }).waitFor();
  await mei.say('Padrón for me, please!');
  await raj.sees('Padrón for me, please!');
  await raj.page.locator('kith-widget [data-message]').last().press('Enter');
  await raj.page.getByRole('menuitem', { name: 'Reply', exact: true }).click();
  await raj.say('They are yours, @mei 👍');
  for (const one of [anna, mei]) {
    await one.page.locator('kith-widget [data-message]', { hasText: 'far too many' }).press('Enter');
    await one.page.getByRole('menuitemcheckbox', { name: '🎉' }).click();
  }
  await anna.page.locator('kith-widget .reaction', { hasText: '2' }).waitFor();
  await anna.back();
  await anna.openRoom('Plant swap');
  await anna.page.getByText('3 members').first().waitFor();
  await anna.message('They are yours').waitFor();
}

/** A call on the desktop, and an incoming call on a dark phone in a right-to-left language. */
async function calls() {
  const raj = await inFront(await person(browser), 'raj');
  const anna = await inFront(await person(browser, { viewport: { width: 1200, height: 760 } }), 'anna');
  await befriend([anna, raj], ['anna', 'raj']);
  await anna.chatWith('Raj Patel');
  await anna.page.getByRole('button', { name: 'Call', exact: true }).click();
  await anna.page.getByRole('menuitem', { name: 'Video call' }).click();
  await raj.page.getByRole('button', { name: 'Accept with video' }).click();
  await anna.page.getByText(/^\d:\d\d · direct$/).waitFor();
  await take(anna.page, 'widget-call');
  await raj.page.getByRole('button', { name: 'Hang up' }).click();
  await raj.page.context().close();

  const phone = await person(browser, {
    ...PHONE,
    colorScheme: 'dark',
    deviceScaleFactor: 1.5,
    locale: 'ar',
  });
  await phone.addInitScript(() => {
    new MutationObserver(() => {
      document.documentElement.lang = 'ar';
      document.documentElement.dir = 'rtl';
    }).observe(document, { childList: true });
  });
  const called = await inFront(phone, 'raj');
  await anna.page.getByRole('button', { name: 'Close' }).last().click();
  await anna.page.getByRole('button', { name: 'Call', exact: true }).click();
  await anna.page.getByRole('menuitem', { name: 'Video call' }).click();
  await called.page.locator('kith-widget .call-card').waitFor();
  await take(called.page, 'widget-ring');
}

/** Shows the member's portrait as the camera's picture, with a silent microphone. */
async function inFront(context, member) {
  await context.addInitScript(name => {
    navigator.mediaDevices.getUserMedia = async wanted => {
      if (wanted.audio) return new AudioContext().createMediaStreamDestination().stream;
      const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
      const portrait = Object.assign(new Image(), { src: `/demo/avatar/${name}.svg` });
      await portrait.decode();
      const scene = canvas.getContext('2d');
      setInterval(() => {
        scene.fillStyle = '#cfe3d6';
        scene.fillRect(0, 0, 640, 360);
        scene.drawImage(portrait, 140, 10, 360, 360);
      }, 100);
      return canvas.captureStream(10);
    };
  }, member);
  return Widget.of(context, kith, member);
}

async function take(page, name) {
  await page.mouse.move(2, 2);
  // Wait for portraits and for the last animation.
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.waitForTimeout(600);
  const path = fileURLToPath(new URL(`${name}.png`, folder));
  await page.screenshot({ path });
  const { size } = await stat(path);
  console.log(`${name}.png: ${size} bytes`);
  if (size > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES} bytes`);
}
