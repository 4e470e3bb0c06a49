// @vitest-environment happy-dom

import { afterEach, expect, test, vi } from 'vitest';
import { ringOutside } from './ring_notification.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function browser(permission: string, hidden: boolean, construct = true) {
  const shown: { title: string; closed: boolean; onclick?: () => void }[] = [];
  class Notification {
    static permission = permission;
    closed = false;
    constructor(readonly title: string) {
      if (!construct) throw new TypeError('Illegal constructor');
      shown.push(this);
    }
    close() {
      this.closed = true;
    }
  }
  vi.stubGlobal('Notification', Notification);
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
  return shown;
}

test('a notification appears if the user has allowed it and the page is hidden', () => {
  const shown = browser('granted', true);
  const end = ringOutside('Ana is calling', 'Audio call');
  expect(shown).toMatchObject([{ title: 'Ana is calling', closed: false }]);
  end();
  expect(shown[0]?.closed).toBe(true);
  ringOutside('Ana is calling', 'Audio call');
  shown[1]?.onclick?.();
  expect(shown[1]?.closed).toBe(true);
});

test('otherwise no notification appears', () => {
  for (const [permission, hidden] of [
    ['granted', false],
    ['default', true],
    ['denied', true],
  ] as const) {
    const shown = browser(permission, hidden);
    ringOutside('Ana is calling', 'Audio call')();
    expect(shown).toEqual([]);
  }
  browser('granted', true, false);
  expect(() => ringOutside('Ana is calling', 'Audio call')()).not.toThrow();
});
