// @vitest-environment happy-dom

import { expect, test, vi } from 'vitest';
import { avoid, type Box, liftOver } from './avoid.ts';

const PAGE = { width: 1_000, height: 800 };
const box = (left: number, top: number, right: number, bottom: number): Box => ({ left, top, right, bottom });

test('the button is above elements in its corner', () => {
  const notice = box(0, 740, 1_000, 800);
  expect(liftOver([notice], 'right', PAGE)).toBe(60);
  expect(liftOver([notice, box(940, 690, 990, 735)], 'right', PAGE)).toBe(110);
});

test('elements that are elsewhere, hidden, or as high as the page do not lift it', () => {
  const elsewhere = [box(0, 740, 300, 800), box(900, 20, 990, 60), box(0, 0, 0, 0), box(900, 820, 990, 900)];
  expect(liftOver(elsewhere, 'right', PAGE)).toBe(0);
  expect(liftOver([box(0, 100, 1_000, 800)], 'right', PAGE)).toBe(0);
  expect(liftOver([box(0, 740, 300, 800)], 'left', PAGE)).toBe(60);
});

test('an invalid selector is reported once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const host = document.createElement('div');
  const end = avoid('[[', host, 'right');
  dispatchEvent(new Event('resize'));
  end();
  expect(warn).toHaveBeenCalledTimes(1);
  expect(host.style.getPropertyValue('--kith-lift')).toBe('0px');
  warn.mockRestore();
});
