// @vitest-environment happy-dom

import { type Me, RequestError, type SiteSettings } from '@kith/client';
import { beforeAll, expect, test, vi } from 'vitest';
import { Drawing, WORDING } from '../../../test/draw.ts';
import { lateWords } from '../../wording/late_words.ts';
import { SiteAdmin } from './site_admin.tsx';

beforeAll(() => lateWords.fetch(WORDING));

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

test('settings are a skeleton until they are loaded', async () => {
  let loaded: (settings: SiteSettings) => void = () => undefined;
  const { drawing } = desk(() => new Promise(done => (loaded = done)));
  expect([drawing.has('.skeleton'), drawing.has('.guard-settings')]).toEqual([true, false]);
  loaded({});
  await vi.waitFor(() => expect(drawing.has('.guard-settings')).toBe(true));
  expect([drawing.has('.skeleton'), drawing.has('.load-failed')]).toEqual([false, false]);
});

test('settings that could not be loaded are an error until a retry loads them', async () => {
  const { drawing, settings } = desk(refused);
  await vi.waitFor(() => expect(drawing.has('.load-failed')).toBe(true));
  expect(drawing.has('.guard-settings')).toBe(false);
  settings.mockResolvedValue({});
  drawing.do(() => drawing.button('Try again').click());
  await vi.waitFor(() => expect(drawing.has('.guard-settings')).toBe(true));
  expect([drawing.has('.load-failed'), settings.mock.calls.length]).toEqual([false, 2]);
});

test('a change that is not saved leaves the form, and one that is saved is shown', async () => {
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

test('a search for members that failed is an error until a retry finds them', async () => {
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
