// @vitest-environment happy-dom

import { afterEach, expect, test, vi } from 'vitest';
import { readSettings } from './settings.ts';

afterEach(() => vi.restoreAllMocks());

test('a bare tag has defaults, and the server is the origin of the script', () => {
  expect(settings({ site: 'garden' })).toEqual({
    site: 'garden',
    server: 'https://im.example/chat',
    mode: 'bubble',
    lang: 'en',
    theme: 'auto',
    position: 'right',
    iconDot: true,
    worker: '/kith-sw.js',
  });
});

test('attributes become settings', () => {
  const all = {
    site: 'garden',
    server: 'https://other.example/',
    mode: 'inbox',
    lang: 'de-AT',
    theme: 'dark',
    position: 'left',
    tokenUrl: '/kith-token',
    user: 'ana',
  };
  expect(settings({ ...all, serviceWorker: '/sw.js' })).toEqual({
    ...all,
    server: 'https://other.example',
    iconDot: true,
    worker: '/sw.js',
  });
});

test('with a nonce, and so with a policy, the icon does not change, unless the tag requests it', () => {
  const tag = { site: 'garden' };
  expect(settings(tag, {}, 'n0nce')?.iconDot).toBe(false);
  expect(settings({ ...tag, icon: 'dot' }, {}, 'n0nce')?.iconDot).toBe(true);
  expect(settings({ ...tag, icon: 'same' })?.iconDot).toBe(false);
});

test('language and side follow the page', () => {
  expect(settings({ site: 'garden' }, { lang: 'ar', dir: 'rtl' })).toMatchObject({
    lang: 'ar',
    position: 'left',
  });
  expect(settings({ site: 'garden' }, { languages: ['fr-CH'] })).toMatchObject({ lang: 'fr-CH' });
});

test('a wrong value causes the default, and one warning on the console', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  expect(settings({ site: 'garden', mode: 'bubbles' })).toMatchObject({ mode: 'bubble' });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    'kith: data-mode="bubbles" is not one of bubble, bar, inbox, embed, headless',
  );
});

test('a room is embedded if the tag names it', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const tag = { site: 'garden', mode: 'embed' };
  expect(settings({ ...tag, room: '/thread/42', into: '#chat' })).toMatchObject({
    mode: 'embed',
    room: '/thread/42',
    into: '#chat',
  });
  expect(settings(tag)).toMatchObject({ mode: 'bubble' });
  expect(warn).toHaveBeenCalledOnce();
});

test('a page room has the name of the tag, else the title of its own page', () => {
  const tag = { site: 'garden', mode: 'embed' };
  const page = { path: '/thread/42', title: ' Slugs in the lettuce ' };
  const name = (more: Record<string, string>) => settings({ ...tag, ...more }, page)?.roomName;
  expect(name({ room: '/thread/42' })).toBe('Slugs in the lettuce');
  expect(name({ room: '/thread/42', roomName: 'Slugs' })).toBe('Slugs');
  expect(name({ room: '/lounge', roomName: 'x'.repeat(300) })).toHaveLength(100);
  expect(name({ room: '/lounge' })).toBe(undefined);
  expect(name({ room: '8000000000000001', roomName: 'A room with a name of its own' })).toBe(undefined);
});

test('without a usable site there are no settings', () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  for (const site of [undefined, '', 'Garden', '../x']) {
    expect(settings(site === undefined ? {} : { site })).toBeUndefined();
  }
  expect(error).toHaveBeenCalledTimes(4);
});

function settings(
  data: Record<string, string>,
  page: { lang?: string; dir?: string; languages?: string[]; path?: string; title?: string } = {},
  nonce = '',
) {
  const script = document.createElement('script');
  Object.assign(script.dataset, data);
  script.nonce = nonce;
  Object.defineProperty(script, 'src', { value: 'https://im.example/chat/kith.js' });
  return readSettings(script, { lang: '', dir: '', languages: [], ...page });
}
