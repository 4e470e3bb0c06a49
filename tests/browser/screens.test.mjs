// Every screen of the documentation: axe finds no violation, in light on a desktop and in dark on a phone, and the
// console shows no errors.

import { after, before, describe, test } from 'node:test';
import { assertAccessible, assertNoTrouble, launch, person } from './browser.mjs';
import { Community } from './community.mjs';
import { inFront, LOOKS, look, painted, SCREENS } from './screen_list.mjs';

let browser;
let community;
before(async () => {
  browser = await launch(
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    '--allow-loopback-in-peer-connection',
    '--disable-features=WebRtcHideLocalIpsWithMdns',
  );
  community = await Community.start(await painted(browser), ['en']);
});
after(async () => {
  await browser.close();
  await community.stop();
});

const AXE = {
  'in the light, on a desktop': LOOKS.desktop,
  'in the dark, on a phone': {
    ...LOOKS.phone,
    theme: 'dark',
    options: { ...LOOKS.phone.options, colorScheme: 'dark' },
  },
};

async function browserOf(as, { options }) {
  const context = await person(browser, { reducedMotion: 'reduce', ...options });
  await inFront(context, as);
  await context.grantPermissions(['microphone', 'camera'], { origin: community.origin });
  return context.newPage();
}

for (const [where, of] of Object.entries(AXE)) {
  describe(where, () => {
    const pages = new Map();
    const pageOf = async as => {
      if (!pages.has(as)) pages.set(as, await browserOf(as, of));
      return pages.get(as);
    };
    after(async () => {
      for (const page of pages.values()) {
        assertNoTrouble(page.context(), /ERR_INTERNET_DISCONNECTED/);
        await page.context().close();
      }
    });
    for (const [name, { as = 'anna', title, looks, callers = [], after: leave }] of Object.entries(SCREENS)) {
      // Screens that only wide pages have.
      if (of.phone && looks !== undefined) continue;
      test(title, async () => {
        const wide = looks ? { ...of, options: looks.desktop.options } : of;
        const page = await pageOf(as);
        await page.setViewportSize(wide.options.viewport);
        const calling = [];
        for (const caller of callers) {
          calling.push(await pageOf(caller));
          // The caller's page may still show an earlier screen.
          await calling.at(-1).goto(community.page('en', caller));
        }
        const sight = await look(page, name, wide, community, calling);
        await assertAccessible(page, `${title}, ${where}`);
        await leave?.(sight);
      });
    }
  });
}
