// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createIconDot } from './icon_dot.ts';

let fetched: string[];
let decode: () => Promise<void>;
beforeEach(() => {
  fetched = [];
  decode = () => Promise.resolve();
  vi.stubGlobal(
    'Image',
    class {
      crossOrigin = '';
      set src(address: string) {
        fetched.push(address);
      }
      decode = () => decode();
    },
  );
  const brush = { drawImage: () => 0, beginPath: () => 0, arc: () => 0, fill: () => 0 };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(brush as never);
  vi.spyOn(HTMLCanvasElement.prototype, 'toDataURL').mockReturnValue('data:image/png;base64,dot');
  document.head.innerHTML = '<link rel="shortcut icon" href="/old.ico"><link rel="icon" href="/new.svg">';
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const drawn = () => new Promise(resolve => setTimeout(resolve, 0));
const icons = () =>
  Array.from(document.querySelectorAll<HTMLLinkElement>('link[rel~=icon]'), one => one.getAttribute('href'));
const violation = (blockedURI: string) =>
  document.dispatchEvent(
    Object.assign(new Event('securitypolicyviolation'), { effectiveDirective: 'img-src', blockedURI }),
  );

test('the dot is added to the icon of the page, and removed again', async () => {
  const before = document.head.innerHTML;
  const dot = createIconDot(document);
  dot.set(true);
  await drawn();
  expect(fetched[0]).toMatch(/\/new\.svg$/);
  expect(icons()).toEqual(['data:image/png;base64,dot']);
  dot.set(true);
  dot.set(false);
  expect(document.head.innerHTML).toBe(before);
});

test('a page without a link has the icon at the root of its site', async () => {
  document.head.innerHTML = '';
  const dot = createIconDot(document);
  dot.set(true);
  await drawn();
  expect(fetched[0]).toMatch(/\/favicon\.ico$/);
  dot.set(false);
  expect(document.head.innerHTML).toBe('');
});

test('messages that are read before the icon is loaded change nothing', async () => {
  const dot = createIconDot(document);
  dot.set(true);
  dot.set(false);
  await drawn();
  expect(icons()).toEqual(['/old.ico', '/new.svg']);
});

test('an icon that cannot be loaded is requested once', async () => {
  decode = () => Promise.reject(new Error('of another origin'));
  const dot = createIconDot(document);
  for (let turn = 0; turn < 3; turn++) {
    dot.set(true);
    await drawn();
    dot.set(false);
  }
  expect(fetched.length).toBe(1);
  expect(icons()).toEqual(['/old.ico', '/new.svg']);
});

test('if the policy of the page forbids it, the icons are restored, and it is not tried again', async () => {
  const dot = createIconDot(document);
  dot.set(true);
  await drawn();
  violation('https://elsewhere.example/');
  expect(icons().length).toBe(1);
  violation('data');
  expect(icons()).toEqual(['/old.ico', '/new.svg']);
  dot.set(false);
  dot.set(true);
  await drawn();
  expect(icons()).toEqual(['/old.ico', '/new.svg']);
});
