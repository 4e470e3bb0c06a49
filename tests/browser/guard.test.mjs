// Protection from strangers and raids, through a real server: held messages, blurred pictures, raid mode,
// and an admin's settings.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, PHONE, until } from './browser.mjs';
import { Kith } from './kith.mjs';
import { asMembers } from './widget.mjs';

let browser;
let kith;
const rest = async (method, path, body) => {
  const token = await kith.command('token', '--site', 'demo', '--user', 'test', '--role', 'service');
  const answer = await fetch(`${kith.url}/v1/sites/demo/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
};
before(async () => {
  [browser, kith] = await Promise.all([launch(), Kith.start()]);
  await rest('POST', 'moderate', { act: 'set_role', user: 'mei', role: 'moderator' });
  await kith.command('user', 'role', '--site', 'demo', 'jonas', 'admin');
  await rest('PATCH', 'settings', {
    filters: { patterns: [{ pattern: 'cas[i1]no', act: 'hold' }], words: ['fool'], words_act: 'flag' },
  });
});
after(async () => {
  await browser.close();
  await kith.stop();
});

const as = (...asked) => asMembers(browser, kith, ...asked);

async function openModeration(widget, part) {
  await widget.tab('Me').click();
  await widget.page.getByRole('button', { name: /^Moderation/ }).click();
  const dialog = widget.page.getByRole('dialog', { name: 'Moderation' });
  if (part) await dialog.getByRole('radio', { name: part }).click();
  return dialog;
}

test('a held message waits, is approved, and another one is refused with a reason', async () => {
  await as(['hamish', 'piotr', 'mei'], async (hamish, piotr, mei) => {
    await hamish.chatWith('Piotr');
    await hamish.say('The cas1no on Main Street burns!');
    const own = text => hamish.page.locator('kith-widget [data-message]', { hasText: text });
    await own('cas1no').locator('[data-state=held]').waitFor();
    await assertAccessible(hamish.page, 'a message that waits for a moderator');
    await hamish.page.reload();
    await hamish.show();
    await hamish.chatWith('Piotr');
    await own('cas1no').locator('[data-state=held]').waitFor();
    const queue = await openModeration(mei);
    const card = text => queue.locator('.report', { hasText: text });
    await card('Main Street').getByText('Found by a filter').waitFor();
    await assertAccessible(mei.page, 'a held message in the queue');
    await card('Main Street').getByRole('button', { name: 'Approve' }).click();
    await card('Main Street').waitFor({ state: 'detached' });
    await own('cas1no').locator('[data-state=held]').waitFor({ state: 'detached' });
    await piotr.chatWith('Hamish');
    await piotr.sees('The cas1no on Main Street burns!');
    await hamish.say('Win at the casino');
    await card('Win at').getByRole('button', { name: 'Reject' }).click();
    await card('Win at').locator('.report-act').getByRole('textbox').fill('No advertising');
    await card('Win at').locator('.report-act').getByRole('button', { name: 'Reject' }).click();
    await own('Win at').getByText('No advertising').waitFor();
    await assertAccessible(hamish.page, 'a refused message');
  });
});

test('moderators try the filters and begin a raid mode', async () => {
  await as(['mei'], async mei => {
    const dialog = await openModeration(mei, 'Protection');
    const tester = dialog.getByRole('region', { name: 'Test filters' });
    await tester.getByRole('textbox').fill('You fool, see the CASINO');
    await tester.getByRole('button', { name: 'Test' }).click();
    await tester.getByText('The message would be held for a moderator.').waitFor();
    assert.equal(await tester.locator('li').count(), 2);
    await assertAccessible(mei.page, 'the tester');
    await dialog.getByRole('button', { name: 'Turn on raid mode' }).click();
    await dialog.getByRole('button', { name: 'Turn off raid mode' }).waitFor();
    await dialog.getByRole('button', { name: 'Turn off raid mode' }).click();
    await dialog.getByRole('button', { name: 'Turn on raid mode' }).waitFor();
    assert.equal(await dialog.getByText('Access', { exact: true }).count(), 0, 'settings are for admins');
  });
});

test('an admin changes settings, and they apply at once', async () => {
  await as(['jonas', 'chloe'], async (jonas, chloe) => {
    await chloe.chatWith('Hamish');
    const dialog = await openModeration(jonas, 'Protection');
    await dialog.getByLabel('Messenger').waitFor();
    await assertAccessible(jonas.page, 'the settings of a site');
    const paths = (value, path = '') =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? Object.entries(value).flatMap(([name, one]) => paths(one, path ? `${path}.${name}` : name))
        : [path];
    const beside = ['filters.patterns', 'raid.until', 'retention.rooms'];
    for (const path of paths(await rest('GET', 'settings')).filter(one => !beside.includes(one)))
      assert.equal(await dialog.locator(`[id="guard-${path}"]`).count(), 1, `${path} can be set`);
    await dialog.getByLabel('Messenger').selectOption('read_only');
    await dialog.getByLabel('Text shown when it is not open').fill('Back at noon');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await chloe.page.getByText('Back at noon').waitFor();
    await assertAccessible(chloe.page, 'a site that is read only');
    assert.equal(await chloe.page.getByRole('textbox', { name: /Hamish/ }).count(), 0);
    await dialog.getByLabel('Messenger').selectOption('open');
    await dialog.getByLabel('Strangers need approval to message').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await chloe.page.getByText('Back at noon').waitFor({ state: 'detached' });
    await until(async () => (await rest('GET', 'settings')).requests.on, 'it is saved');
    await dialog.getByRole('button', { name: 'Add pattern' }).click();
    await dialog.getByRole('textbox', { name: 'Pattern 2' }).fill('(');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/Not saved: filters.patterns/).waitFor();
    await dialog.getByRole('button', { name: 'Remove pattern 2' }).click();
    await dialog.getByRole('searchbox', { name: 'Find member' }).fill('Amara');
    await dialog.getByRole('button', { name: /Role of Amara.*Moderator/ }).click();
    await dialog.getByRole('radio', { name: 'Log' }).click();
    await dialog
      .getByText(/changed settings/)
      .first()
      .waitFor();
    await rest('PATCH', 'settings', { requests: null });
  });
});

test('messages of a shadow-banned member reach nobody else', async () => {
  await as(['chloe', 'piotr'], async (chloe, piotr) => {
    await chloe.chatWith('Piotr');
    await chloe.say('Hello Piotr');
    await piotr.chatWith('Chlo');
    await piotr.sees('Hello Piotr');
    await rest('POST', 'moderate', { act: 'shadow_ban', user: 'chloe' });
    await chloe.say('Buy pills');
    const own = chloe.page.locator('kith-widget [data-message]', { hasText: 'Buy pills' });
    await own.locator('[data-state=sent]').waitFor();
    await piotr.say('Are you there?');
    await chloe.sees('Are you there?');
    assert.equal(await piotr.page.getByText('Buy pills').count(), 0);
    await chloe.page.reload();
    await chloe.show();
    await chloe.chatWith('Piotr');
    await chloe.sees('Buy pills');
    await rest('POST', 'moderate', { act: 'lift_shadow_ban', user: 'chloe' });
  });
});

test('a picture of a stranger is blurred until one wants to see it', async () => {
  await as(['ingrid', 'raj'], async (ingrid, raj) => {
    await ingrid.chatWith('Raj');
    await ingrid.say('May I show you something?');
    await raj.chatWith('Ingrid');
    await raj.say('Of course');
    await ingrid.sees('Of course');
    await ingrid.field.evaluate(async field => {
      const canvas = new OffscreenCanvas(600, 400);
      canvas.getContext('2d').fillRect(0, 0, 600, 400);
      const data = new DataTransfer();
      const blob = await canvas.convertToBlob({ type: 'image/jpeg' });
      data.items.add(new File([blob], 'night.jpg', { type: blob.type }));
      field.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    });
    await ingrid.page.getByText('Ready to send').waitFor();
    await ingrid.field.press('Enter');
    await ingrid.page.locator('kith-widget .shot .picture.is-here').waitFor();
    const fetched = [];
    raj.page.on('request', request => fetched.push(request.url()));
    const veil = raj.page.getByRole('button', { name: 'Show picture from a stranger' });
    await veil.waitFor();
    await assertAccessible(raj.page, 'a picture of a stranger');
    assert.equal(fetched.filter(url => url.includes('/v1/files')).length, 0, 'nothing of it is fetched');
    await veil.click();
    await raj.page.locator('kith-widget .shot .picture.is-here').waitFor();
    await veil.waitFor({ state: 'detached' });
  });
});

test('the settings fit a phone', async () => {
  await as(
    ['jonas'],
    async jonas => {
      const dialog = await openModeration(jonas, 'Protection');
      await dialog.getByLabel('Messenger').waitFor();
      await assertAccessible(jonas.page, 'the settings of a site on a phone');
      await assertFits(jonas.page);
    },
    PHONE,
  );
});

test('an admin reads the settings in the language of the page, and no other language is fetched', async () => {
  await as(
    ['jonas'],
    async jonas => {
      const fetched = [];
      jonas.page.on('request', request => fetched.push(request.url()));
      // Do not count requests of the previous page.
      jonas.page.on('framenavigated', () => fetched.splice(0));
      await jonas.page.context().addInitScript(() => {
        new MutationObserver(() => {
          document.documentElement.lang = 'ar';
          document.documentElement.dir = 'rtl';
        }).observe(document, { childList: true });
      });
      await jonas.page.reload();
      await jonas.show();
      await jonas.tab('أنا').click();
      await jonas.page.getByRole('button', { name: /^الإشراف/ }).click();
      const dialog = jonas.page.getByRole('dialog', { name: 'الإشراف' });
      await dialog.getByRole('radio', { name: 'الحماية' }).click();
      await dialog.getByText('يمكن للمشرفين الكتابة دائمًا. يسري ذلك فورًا.').waitFor();
      await dialog.getByRole('button', { name: 'إضافة نمط' }).waitFor();
      await assertAccessible(jonas.page, 'the settings of a site in Arabic');
      await assertFits(jonas.page);
      const languages = fetched.map(url => /\/([a-z]{2})(?:_late)?-[^/]*\.js$|words\.([a-z]{2})-/.exec(url));
      const spoken = new Set(languages.map(found => found?.[1] ?? found?.[2]).filter(Boolean));
      assert.deepEqual(Array.from(spoken), ['ar'], fetched.join('\n'));
    },
    PHONE,
  );
});

async function assertFits(page) {
  const wide = await page.evaluate(() => {
    const body = document.querySelector('kith-widget')?.shadowRoot?.querySelector('.sheet-body');
    return body ? body.scrollWidth - body.clientWidth : 0;
  });
  assert.ok(wide <= 1, `${wide} px are beside the screen`);
}
