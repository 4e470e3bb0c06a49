// Takes the pictures of the README from a real demo: `npm --prefix widget run screenshots`.

import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launch, PHONE, person } from './browser.mjs';
import { Kith } from './kith.mjs';
import { Widget } from './widget.mjs';

const folder = new URL('../../docs/images/', import.meta.url);
/** A README should not weigh more than what it shows. */
const MOST_BYTES = 200_000;

await mkdir(folder, { recursive: true });
const [browser, kith] = await Promise.all([launch(), Kith.start()]);
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
  await anna.page.getByText('Raj Patel is typing').waitFor({ state: 'attached' });
  await take(anna.page, 'widget-desktop');

  const phone = await Widget.of(await person(browser, { ...PHONE, deviceScaleFactor: 1.5 }), kith, 'anna');
  await phone.page.locator('kith-widget .chat-row').first().waitFor();
  await take(phone.page, 'widget-phone');

  const context = await person(browser, { viewport: { width: 1120, height: 720 }, colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(`${kith.url}/full/anna`);
  await page.locator('kith-widget .chat-row', { hasText: 'Raj Patel' }).locator('.row-main').click();
  await page.locator('kith-widget [data-message]').first().waitFor();
  await take(page, 'widget-dark');
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

async function take(page, name) {
  await page.mouse.move(2, 2);
  // Pictures of people and the last animation.
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.waitForTimeout(600);
  const path = fileURLToPath(new URL(`${name}.png`, folder));
  await page.screenshot({ path });
  const { size } = await stat(path);
  console.log(`${name}.png: ${size} bytes`);
  if (size > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES} bytes`);
}
