// @vitest-environment happy-dom

import { RequestError } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, NOW, WORDING } from '../../../test/draw.ts';
import { rareWords } from '../../wording/late_words.ts';
import { Account } from '../profile/account_section.tsx';
import { AppPasswordsSheet } from './app_passwords_sheet.tsx';

beforeAll(() => rareWords.fetch(WORDING));

const HOUR = 3_600_000;
const PASSWORD = 'abcde-fghjk-mnpqr-tuvwx-y3467';

async function sheet(change: (drawing: Drawing) => void = () => undefined): Promise<Drawing> {
  const drawing = new Drawing();
  change(drawing);
  drawing.draw(<AppPasswordsSheet onClose={() => undefined} />);
  await vi.waitFor(() => expect(drawing.has('.skeleton')).toBe(false));
  return drawing;
}

const rows = (drawing: Drawing) =>
  Array.from(drawing.root.querySelectorAll('.app-row'), row => [
    row.querySelector('.app-name')?.textContent,
    row.querySelector('.sheet-hint')?.textContent?.split(' · ')[1],
  ]);

test('the entry is there only where apps can sign in', async () => {
  for (const apps of [true, false]) {
    const drawing = new Drawing();
    drawing.client.own.apps = apps;
    drawing.draw(<Account />);
    await vi.waitFor(() => expect(drawing.text()).toContain('Devices'));
    expect(drawing.text().includes('Apps')).toBe(apps);
  }
});

test('the address is shown as text and as a QR code, which has no password', async () => {
  const drawing = await sheet();
  expect(drawing.find('.copy-value').textContent).toBe('me@garden.example');
  if (!drawing.has('.qr-code')) drawing.do(() => drawing.button('Show QR code').click());
  expect(drawing.find('.qr-code').getAttribute('aria-label')).toBe('QR code of your address');
  expect(drawing.find('.qr-code path').getAttribute('d')).toMatch(/^(M\d+ \d+h\d+v1h-\d+z)+$/);
  drawing.do(() => drawing.button('Hide QR code').click());
  expect(drawing.has('.qr-code')).toBe(false);
});

test('a password is listed with its last use, as exactly as the server knows it', async () => {
  vi.setSystemTime(NOW);
  const drawing = await sheet(({ client }) => {
    const row = (number: number, name: string) => ({ number, name, created: NOW - 48 * HOUR });
    client.passwords = [
      { ...row(4, 'Dino'), used: NOW - 30 * HOUR, here: true },
      { ...row(3, 'Gajim'), used: NOW - HOUR / 2 },
      { ...row(2, 'Phone'), used: NOW - 3 * HOUR },
      row(1, 'Tablet'),
    ];
  });
  expect(rows(drawing)).toEqual([
    ['Dino', 'connected now'],
    ['Gajim', 'signed in during the last hour'],
    ['Phone', 'last sign-in 3 hr ago'],
    ['Tablet', 'never used'],
  ]);
  vi.useRealTimers();
});

test('a new password is shown once, and can be copied', async () => {
  const drawing = await sheet();
  const make = () => drawing.button('Create password');
  expect(make().getAttribute('aria-disabled')).toBe('true');
  drawing.do(() => make().click());
  expect(drawing.client.calls).toEqual([]);
  drawing.type(drawing.find<HTMLInputElement>('input'), ' Laptop ');
  drawing.do(() => make().click());
  await vi.waitFor(() => expect(drawing.text()).toContain(PASSWORD));
  expect(drawing.client.calls.at(-1)).toBe('{"t":"create_app_password","name":"Laptop"}');
  expect([drawing.text().includes('Password for Laptop'), drawing.said]).toEqual([
    true,
    ['Password created'],
  ]);
  expect(drawing.said.join()).not.toContain(PASSWORD);

  const copied: string[] = [];
  vi.stubGlobal('navigator', { clipboard: { writeText: async (text: string) => void copied.push(text) } });
  drawing.do(() => drawing.button('Copy password').click());
  await vi.waitFor(() => expect(drawing.said.at(-1)).toBe('Password copied'));
  expect(copied).toEqual([PASSWORD]);
  vi.unstubAllGlobals();

  drawing.do(() => drawing.button('Done').click());
  expect(drawing.text()).not.toContain(PASSWORD);
  expect(rows(drawing)[0]).toEqual(['Laptop', 'never used']);
});

test('where the browser has no clipboard, the member is told to select the text', async () => {
  vi.stubGlobal('navigator', {});
  const drawing = await sheet();
  drawing.do(() => drawing.button('Copy address').click());
  await vi.waitFor(() => expect(drawing.find('[role=alert]').textContent).toContain('Select the text'));
  vi.unstubAllGlobals();
});

test('a password is revoked after a question that says what happens', async () => {
  const drawing = await sheet();
  drawing.do(() => drawing.button('Revoke Dino').click());
  expect([drawing.question?.title, drawing.question?.text]).toEqual([
    'Revoke “Dino”?',
    'Apps that use this password are signed out at once. Your chats and your other apps stay as they are.',
  ]);
  expect(drawing.client.calls).toEqual([]);
  drawing.do(() => drawing.question?.onYes());
  await vi.waitFor(() => expect(drawing.said).toEqual(['Password revoked']));
  expect(drawing.client.calls.at(-1)).toBe('{"t":"revoke_app_password","number":2}');
  expect(rows(drawing).map(([name]) => name)).toEqual(['Old phone']);
});

test('a shown password is hidden when it is revoked', async () => {
  const drawing = await sheet();
  drawing.type(drawing.find<HTMLInputElement>('input'), 'Laptop');
  drawing.do(() => drawing.button('Create password').click());
  await vi.waitFor(() => expect(drawing.text()).toContain(PASSWORD));
  drawing.do(() => drawing.button('Revoke Laptop').click()).do(() => drawing.question?.onYes());
  await vi.waitFor(() => expect(drawing.text()).not.toContain(PASSWORD));
});

test('a refusal is explained, and the name stays in the field', async () => {
  const drawing = await sheet();
  const ask = vi.spyOn(drawing.client, 'ask');
  for (const [code, text] of [
    ['too_many_app_passwords', 'Revoke one first'],
    ['bad_value', 'too long'],
    ['offline', 'Try again'],
  ] as const) {
    ask.mockRejectedValueOnce(new RequestError(code));
    drawing.type(drawing.find<HTMLInputElement>('input'), 'Laptop');
    drawing.do(() => drawing.button('Create password').click());
    await vi.waitFor(() => expect(drawing.find('[role=alert]').textContent).toContain(text));
    expect(drawing.find<HTMLInputElement>('input').value).toBe('Laptop');
  }
});

test('a guest learns why there are no passwords, and nothing is requested', async () => {
  const drawing = await sheet(({ client }) => {
    client.myself = { ...client.myself, guest: true };
  });
  expect(drawing.text()).toContain('Apps need an account');
  expect(drawing.has('input')).toBe(false);
});

test('where no app can sign in, passwords can still be revoked but not made', async () => {
  const drawing = await sheet(({ client }) => {
    client.address = undefined;
  });
  expect(drawing.text()).toContain('Apps cannot connect now');
  expect([drawing.has('input'), rows(drawing).length]).toEqual([false, 2]);
});
