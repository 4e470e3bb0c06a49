// @vitest-environment happy-dom

import { type Me, RequestError, type SiteSettings } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { rareWords } from '../../wording/late_words.ts';
import { SiteAdmin } from './site_admin.tsx';

beforeAll(() => rareWords.fetch(WORDING));

/** Renders the settings for an admin. `answer` is the server's response to loading and saving settings. */
function desk(answer: (patch?: SiteSettings) => Promise<SiteSettings>) {
  const drawing = new Drawing();
  const settings = vi.fn(answer);
  drawing.client.settings = settings;
  drawing.client.myself = { ...(drawing.client.me() as Me), role: 'admin' };
  drawing.draw(<SiteAdmin />);
  return { drawing, settings };
}

const refused = () => Promise.reject(new RequestError('unavailable'));

test('a skeleton is shown until the settings are loaded', async () => {
  let loaded: (settings: SiteSettings) => void = () => undefined;
  const { drawing } = desk(() => new Promise(done => (loaded = done)));
  expect([drawing.has('.skeleton'), drawing.has('.guard-settings')]).toEqual([true, false]);
  loaded({});
  await vi.waitFor(() => expect(drawing.has('.guard-settings')).toBe(true));
  expect([drawing.has('.skeleton'), drawing.has('.load-failed')]).toEqual([false, false]);
});

test('an error is shown until a retry loads the settings', async () => {
  const { drawing, settings } = desk(refused);
  await vi.waitFor(() => expect(drawing.has('.load-failed')).toBe(true));
  expect(drawing.has('.guard-settings')).toBe(false);
  settings.mockResolvedValue({});
  drawing.do(() => drawing.button('Try again').click());
  await vi.waitFor(() => expect(drawing.has('.guard-settings')).toBe(true));
  expect([drawing.has('.load-failed'), settings.mock.calls.length]).toEqual([false, 2]);
});

test('a change that could not be saved stays in the form, and a saved change is shown', async () => {
  const { drawing, settings } = desk(() => Promise.resolve({}));
  await vi.waitFor(() => expect(drawing.has('.guard-settings')).toBe(true));
  const box = () => drawing.find<HTMLInputElement>('.guard-settings [type=checkbox]');
  const isOn = box().checked;
  const save = () => {
    drawing.do(() =>
      drawing.find('.guard-settings').dispatchEvent(new Event('submit', { cancelable: true })),
    );
  };
  drawing.do(() => box().click());
  settings.mockImplementation(refused);
  save();
  await vi.waitFor(() => expect(drawing.has('.sheet-failed[role=alert]')).toBe(true));
  expect([box().checked, drawing.has('.load-failed')]).toEqual([!isOn, false]);
  settings.mockImplementation(async patch => patch ?? {});
  save();
  await vi.waitFor(() => expect(drawing.has('.sheet-failed')).toBe(false));
  expect([box().checked, drawing.said.length]).toEqual([!isOn, 1]);
});

test('an error is shown until a retry of a failed search finds members', async () => {
  const { drawing } = desk(() => Promise.resolve({}));
  const found = drawing.client.people.bind(drawing.client);
  drawing.client.people = refused;
  drawing.type(drawing.find<HTMLInputElement>('[type=search]'), 'an');
  await vi.waitFor(() => expect(drawing.has('.load-failed')).toBe(true));
  drawing.client.people = found;
  drawing.do(() => drawing.button('Try again').click());
  await vi.waitFor(() => expect(drawing.has('.guard-person')).toBe(true));
  expect(drawing.has('.load-failed')).toBe(false);
});
