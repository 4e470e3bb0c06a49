// Takes pictures of each screen in four looks for docs/screens.md, on a real node: `npm --prefix widget run
// screenshots`. ONLY=chat,me takes only these screens.

import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { assertNoTrouble, launch, person, untilIn } from './browser.mjs';
import { Community } from './community.mjs';
import { inFront, LOOKS, look, painted, SCREENS } from './screen_list.mjs';

const DOCS = new URL('../../docs/', import.meta.url);
const FOLDER = new URL('images/screens/', DOCS);
/** The maximum size of a picture, so that a page with all pictures loads quickly. */
const MOST_BYTES = 90_000;
const only = process.env.ONLY?.split(',') ?? Object.keys(SCREENS);
const looks = process.env.LOOKS?.split(',') ?? Object.keys(LOOKS);

await mkdir(FOLDER, { recursive: true });
const browser = await launch(
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  // On a machine without a network two browsers can connect only through loopback.
  '--allow-loopback-in-peer-connection',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
);
const picture = await painted(browser);
const failed = [];
let community;
let callers;
try {
  // Each look starts with a new community, without changes by an earlier look.
  for (const where of looks) {
    community = await Community.start(picture, [LOOKS[where].language]);
    callers = new Map();
    await takeAll(where).finally(() => community.stop());
  }
} finally {
  await browser.close();
}
await writeFile(new URL('screens.md', DOCS), page());
if (failed.length > 0) throw new Error(`not taken: ${failed.join(', ')}`);

/** Takes all screens in one look, each in the browser of the member who sees it. */
async function takeAll(where) {
  const contexts = new Map();
  for (const name of only) {
    const { as = 'anna', looks: own = LOOKS, callers: others = [] } = SCREENS[name];
    const of = own[where];
    if (of === undefined) continue;
    const sized = `${as} ${of.options.viewport.width}`;
    if (!contexts.has(sized)) contexts.set(sized, await seer(as, of));
    const seen = contexts.get(sized);
    try {
      await take(seen, name, where, of, await Promise.all(others.map(one => callerOf(one, of.language))));
    } catch (error) {
      failed.push(`${name}-${where}`);
      console.error(`${name}-${where}: ${error.message.split('\n')[0]}`);
      await seen.screenshot({ path: `${tmpdir()}/failed-${name}-${where}.png` });
      for (const one of others)
        await callers.get(one)?.screenshot({ path: `${tmpdir()}/failed-${name}-${one}.png` });
      await seen.context().close();
      contexts.delete(sized);
    }
  }
  for (const page of [...contexts.values(), ...callers.values()]) {
    assertNoTrouble(page.context(), /ERR_INTERNET_DISCONNECTED/);
    await page.context().close();
  }
}

async function seer(as, { options, language }) {
  const context = await person(browser, {
    reducedMotion: 'reduce',
    deviceScaleFactor: 1.5,
    locale: language === 'ar' ? 'ar' : 'en-GB',
    ...options,
  });
  await inFront(context, as);
  await context.grantPermissions(['microphone', 'camera', 'notifications'], { origin: community.origin });
  return context.newPage();
}

async function callerOf(who, language) {
  if (!callers.has(who)) {
    const page = await seer(who, { options: { viewport: { width: 900, height: 700 } }, language });
    await page.goto(community.page(language, who));
    callers.set(who, page);
  }
  const page = callers.get(who);
  const online = async () => (await globalThis.Kith?.client())?.status().state === 'online';
  await untilIn(page, online, `${who} is online`);
  return page;
}

async function take(page, name, where, of, calling) {
  const { whole, after } = SCREENS[name];
  const sight = await look(page, name, of, community, calling);
  await page.mouse.move(1, 1);
  await page.waitForTimeout(250);
  const clip = whole || of.phone ? { x: 0, y: 0, ...of.options.viewport } : await frameOf(sight);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 78,
    clip: { ...clip, scale: 1 },
  });
  await session.detach();
  await after?.(sight);
  const bytes = Buffer.from(data, 'base64');
  await writeFile(new URL(`${name}-${where}.webp`, FOLDER), bytes);
  console.log(`${name}-${where}.webp: ${bytes.length} bytes`);
  if (bytes.length > MOST_BYTES) throw new Error(`it has ${bytes.length} bytes, more than ${MOST_BYTES}`);
}

/** The area of the panel with a margin, so that its edge is visible. */
async function frameOf(sight) {
  const box = await sight.in('.panel').first().boundingBox();
  const margin = 14;
  const { width, height } = sight.look.options.viewport;
  const [x, y] = [Math.max(0, box.x - margin), Math.max(0, box.y - margin)];
  return {
    x,
    y,
    width: Math.min(width, box.x + box.width + margin) - x,
    height: Math.min(height, box.y + box.height + margin) - y,
  };
}

function page() {
  const out = [
    '<!-- Written by `npm --prefix widget run screenshots`. Not edited by hand. -->\n',
    '# Screens\n',
    'Every screen of the widget in four looks: desktop, dark, phone, and right to left. The widget’s tests take these pictures on a real node.\n',
  ];
  for (const [screen, { title, text, looks: own = LOOKS }] of Object.entries(SCREENS)) {
    const shown = Object.entries(own);
    out.push(
      `## ${title}\n`,
      `${text}\n`,
      `| ${shown.map(([, look]) => look.title).join(' | ')} |`,
      `|${shown.map(() => '---').join('|')}|`,
      `| ${shown.map(([where, { title: how }]) => `![${title}: ${how}](images/screens/${screen}-${where}.webp)`).join(' | ')} |\n`,
    );
  }
  return out.join('\n');
}
