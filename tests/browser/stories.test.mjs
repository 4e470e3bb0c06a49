// Every shared part of the widget, in each of its states, under a strict policy.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { assertNoTrouble, DESKTOP, launch, person, shot } from './browser.mjs';
import { fixture } from './fixture.mjs';

let browser;
let site;
before(async () => {
  [browser, site] = await Promise.all([launch(), fixture()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

const PARTS = (
  await readdir(new URL('../../widget/app/src/ui', import.meta.url), { recursive: true })
).filter(name => name.endsWith('.stories.tsx'));

for (const settings of [{ theme: 'light' }, { theme: 'dark' }, { lang: 'ar' }]) {
  test(`every story is drawn: ${Object.values(settings)}`, async () => {
    const context = await person(browser, DESKTOP);
    const page = await context.newPage();
    await page.goto(site.stories(settings));
    await page.locator('[data-story]').first().waitFor();
    assert.equal(await page.locator('kith-widget section').count(), PARTS.length);
    const blank = () =>
      page
        .locator('.story-frame')
        .evaluateAll(frames =>
          frames
            .filter(frame =>
              Array.from(frame.children).every(one => one.getBoundingClientRect().height === 0),
            )
            .map(frame => frame.parentElement.dataset.story),
        );
    // One part is loaded late.
    await page.getByText('The part has arrived.').waitFor();
    assert.deepEqual(await blank(), []);
    await shot(page, `stories-${Object.values(settings)}`);
    assertNoTrouble(context);
    await context.close();
  });
}
