// Takes each screen in four looks for docs/screens.md, on a fake client: `npm --prefix widget run screenshots`.

import { mkdir, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launch, PHONE, person, settled } from './browser.mjs';
import { fixture } from './fixture.mjs';

const DOCS = new URL('../../docs/', import.meta.url);
const FOLDER = new URL('images/screens/', DOCS);
/** A page with all of them must still come quickly. */
const MOST_BYTES = 90_000;

const tab = name => page => page.locator(`#tab-${name}`).click();
const SCREENS = {
  chats: {
    title: 'Chats',
    text: 'What is going on, newest first: pinned, unread, mentions, drafts, who is here.',
  },
  chat: {
    title: 'A conversation',
    settings: { open: 'u2' },
    text: 'Replies, reactions, what has been read, who is writing.',
  },
  menu: {
    title: 'What can be done with a message',
    settings: { open: 'u2' },
    act: async page => {
      await page.locator('[data-message]').last().press('Enter');
      await page.getByRole('menu').waitFor();
    },
    text: 'By right click, long press or Enter.',
  },
  emoji: {
    title: 'Emoji',
    settings: { open: 'u2' },
    act: async page => {
      await page.locator('.composer button:has(.icon-smile)').click();
      await page.locator('.picker-grid').first().waitFor();
    },
    text: 'With search and skin tones; `:name:` works, too.',
  },
  contacts: { title: 'Contacts', act: tab('contacts'), text: 'Requests, who is online, all members.' },
  rooms: {
    title: 'Rooms',
    settings: { rooms: 6 },
    act: tab('rooms'),
    text: 'One’s own, and those of the site.',
  },
  room: { title: 'A room', settings: { rooms: 6, room: 'r0' }, text: 'Open, private, or for announcements.' },
  about: {
    title: 'About a room',
    settings: { rooms: 6, room: 'r0' },
    act: page => page.locator('.room-head').click(),
    text: 'Its members and roles; for its owner its settings.',
  },
  search: {
    title: 'Search',
    settings: { rooms: 6 },
    act: async page => {
      await page.locator('.pane-list button:has(.icon-search)').first().click();
      await page.getByRole('combobox').fill('ri');
      await page.getByRole('option').nth(3).waitFor();
    },
    text: 'One field for people, rooms and messages.',
  },
  me: { title: 'Me', act: tab('me'), text: 'How one is seen, what is told, how it looks.' },
};
const SMALL_PHONE = { ...PHONE, viewport: { width: 360, height: 640 } };
const LOOKS = {
  desktop: {
    title: 'Desktop',
    settings: { theme: 'light' },
    options: { viewport: { width: 760, height: 740 } },
  },
  dark: {
    title: 'Dark',
    settings: { theme: 'dark' },
    options: { viewport: { width: 760, height: 740 }, colorScheme: 'dark' },
  },
  phone: { title: 'Phone', settings: { theme: 'light' }, options: SMALL_PHONE },
  arabic: { title: 'Arabic', settings: { theme: 'light', lang: 'ar' }, options: SMALL_PHONE },
};

await mkdir(FOLDER, { recursive: true });
const [browser, site] = await Promise.all([launch(), fixture()]);
try {
  for (const [screen, { settings, act }] of Object.entries(SCREENS)) {
    for (const [look, { settings: more, options }] of Object.entries(LOOKS)) {
      await take(`${screen}-${look}`, { ...settings, ...more }, options, act);
    }
  }
  await takeBar();
} finally {
  await browser.close();
  await site.close();
}
await writeFile(new URL('screens.md', DOCS), page());

async function take(name, settings, options, act) {
  const context = await person(browser, { reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(site.url(settings));
  await page.locator('.panel').waitFor();
  await act?.(page);
  await page.evaluate(ground, settings.theme);
  await page.waitForTimeout(400);
  await page.evaluate(settled);
  await save(name, options.isMobile ? page : page.locator('.panel'));
  await context.close();
}

async function takeBar() {
  const context = await person(browser, { reducedMotion: 'reduce', viewport: { width: 1280, height: 620 } });
  const page = await context.newPage();
  await page.goto(site.url({ mode: 'bar', closed: 1, theme: 'light' }));
  await page.waitForFunction(() => globalThis.app);
  await page.locator('.bar-strip').waitFor();
  for (const user of ['u5', 'u3', 'u2']) {
    await page.evaluate(one => globalThis.app.open(one), user);
    await page.locator(`.window[data-chat="@${user}"] .composer-field`).waitFor();
  }
  await page.evaluate(() => {
    globalThis.client.arrive('u5', 'Hello?');
  });
  await page.evaluate(ground, 'light');
  await page.locator('.bar-chats').click();
  await page.locator('.chat-row').first().waitFor();
  await page.waitForTimeout(400);
  await save('bar', page, 150_000);
  await context.close();
}

/** What is seen past the round corners. */
function ground(theme) {
  document.body.replaceChildren(document.querySelector('kith-widget'));
  document.documentElement.style.background = theme === 'dark' ? '#2b2d2f' : '#eceae6';
}

async function save(name, what, most = MOST_BYTES) {
  const path = fileURLToPath(new URL(`${name}.png`, FOLDER));
  await what.screenshot({ path });
  const { size } = await stat(path);
  console.log(`${name}.png: ${size} bytes`);
  if (size > most) throw new Error(`${name}.png is larger than ${most} bytes`);
}

function page() {
  const looks = Object.entries(LOOKS);
  const out = [
    '<!-- Written by `npm --prefix widget run screenshots`. Not edited by hand. -->\n',
    '# Screens\n',
    'What members see, taken from the widget by its own tests: on a desktop, in the dark, on a phone, and from right to left.\n',
    '## The bar\n',
    'Chats side by side at the bottom of the page, those that find no room as heads ([how to turn it on](embed.md#the-bar)).\n',
    '![Two chats stand open beside the list](images/screens/bar.png)\n',
  ];
  for (const [screen, { title, text }] of Object.entries(SCREENS)) {
    out.push(
      `## ${title}\n`,
      `${text}\n`,
      `| ${looks.map(([, look]) => look.title).join(' | ')} |`,
      `|${looks.map(() => '---').join('|')}|`,
      `| ${looks.map(([look, { title: how }]) => `![${title}: ${how}](images/screens/${screen}-${look}.png)`).join(' | ')} |\n`,
    );
  }
  return out.join('\n');
}
