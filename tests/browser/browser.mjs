// Chromium for the tests: each context records the errors and warnings of its pages.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach } from 'node:test';

/** The tests use packages that the widget's lock file installs. */
const require = createRequire(new URL('../../widget/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Each wait is for a condition. On a busy machine it may take this long. */
export const PATIENCE_MS = 60_000;

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const SHELL = process.env.CHROMIUM_SHELL ?? '/usr/bin/chromium-headless-shell';

/** Starts Chromium's headless shell if it is installed: it takes half of the CPU time, but has no notifications. */
export function launch(...more) {
  return start(existsSync(SHELL) ? SHELL : CHROMIUM, more);
}

/** Starts the full Chromium, which shows notifications. */
export function launchWithNotifications(...more) {
  return start(CHROMIUM, more);
}

async function start(executablePath, more) {
  const browser = await chromium.launch({ executablePath, args: [...FLAGS, ...more] });
  browsers.add(browser);
  browser.on('disconnected', () => browsers.delete(browser));
  return browser;
}

const browsers = new Set();

afterEach(async test => {
  if (!test.passed) await describePages();
});

/** Prints what the open pages show, for the report of a failed test. */
async function describePages() {
  for (const page of Array.from(browsers, one => one.contexts())
    .flat()
    .flatMap(context => context.pages())) {
    const text = () => document.querySelector('kith-widget')?.shadowRoot?.querySelector('.panel')?.innerText;
    const shown = await Promise.race([
      page.evaluate(text).catch(error => error.message),
      new Promise(resolve => setTimeout(resolve, 5_000, 'no answer')),
    ]);
    console.log(`open: ${page.url()}, panel: ${JSON.stringify(shown)?.slice(0, 1500)}`);
    console.log(`errors: ${JSON.stringify(troublesOf.get(page.context()) ?? [])}`);
  }
}

/**
 * A browser context of one member. `troubles(context)` lists the errors of its pages. After a reload the panel is
 * closed, except with `reopens`.
 */
export async function person(browser, { reopens = false, ...options } = DESKTOP) {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  // The widget's shadow root is closed to the page, and so to tests. Open it for the tests.
  await context.addInitScript(() => {
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (init) {
      return attach.call(this, { ...init, mode: 'open' });
    };
    globalThis.violations = [];
    addEventListener('securitypolicyviolation', event => {
      globalThis.violations.push(
        `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      );
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await context.addInitScript(withoutIsolates);
  // KITH_WIDGET=widget/dist tests a widget that is newer than the binary.
  const newer = process.env.KITH_WIDGET;
  if (newer) {
    await context.route(/\/kith(\.js|\/.*)$/, route =>
      route.fulfill({
        path: `${newer}${new URL(route.request().url()).pathname}`,
        contentType: 'text/javascript',
      }),
    );
  }
  if (!reopens) {
    await context.addInitScript(() => {
      try {
        for (const key of Object.keys(sessionStorage)) {
          if (/^kith:.*:panel$/.test(key)) sessionStorage.removeItem(key);
        }
      } catch {
        // A page without storage has nothing to reopen.
      }
    });
  }
  const list = [];
  troublesOf.set(context, list);
  context.on('page', page => {
    page.on('pageerror', error => list.push(`${page.url()}: ${error.stack ?? error.message}`));
    page.on('console', message => {
      if (message.type() === 'error')
        list.push(`${page.url()}: ${message.text()} (${message.location().url})`);
    });
  });
  return context;
}

const troublesOf = new WeakMap();

/** Removes the marks that isolate the direction of names (U+2068, U+2069), so that tests find texts as shown. */
function withoutIsolates() {
  const plain = text => (typeof text === 'string' ? text.replace(/[\u2068\u2069]/g, '') : text);
  const { createTextNode } = Document.prototype;
  Document.prototype.createTextNode = function (text) {
    return createTextNode.call(this, plain(text));
  };
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    setAttribute.call(this, name, plain(value));
  };
  for (const [type, name] of [
    [Node, 'textContent'],
    [CharacterData, 'data'],
    [HTMLElement, 'title'],
    [HTMLImageElement, 'alt'],
    [HTMLInputElement, 'placeholder'],
    [HTMLTextAreaElement, 'placeholder'],
  ]) {
    const own = Object.getOwnPropertyDescriptor(type.prototype, name);
    Object.defineProperty(type.prototype, name, {
      ...own,
      set(text) {
        own.set.call(this, plain(text));
      },
    });
  }
}

/** Asserts that no page threw an error, logged an error or warning, or violated its policy. */
export function assertNoTrouble(context, except = /^$/) {
  const list = troublesOf.get(context).filter(one => !except.test(one));
  assert.deepEqual(list, []);
}

/** Asserts that the widget violates neither WCAG 2.2 A and AA nor axe's best practices. */
export async function assertAccessible(page, what) {
  await page.evaluate(settled);
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const run = await globalThis.axe.run('kith-widget', {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      // Report violations only; no test reads passed checks.
      resultTypes: ['violations'],
      // The widget's headings follow those of the page, which the widget does not know.
      rules: { 'heading-order': { enabled: false } },
    });
    return run.violations.map(one => ({
      rule: one.id,
      at: one.nodes.map(node => `${node.target.join(' ')}: ${node.failureSummary}`),
    }));
  });
  assert.deepEqual(violations, [], `axe: ${what}`);
}

/** Asserts accessibility in each colour scheme, for a widget whose theme follows the system. */
export async function assertAccessibleIn(schemes, page, what) {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`kith-widget[data-theme=${colorScheme}]`).waitFor({ state: 'attached' });
    await assertAccessible(page, `${what}, ${colorScheme}`);
  }
}

/** Waits until transitions have ended, so that elements have their final colours. Ignores endless animations. */
export async function settled() {
  const root = document.querySelector('kith-widget').shadowRoot;
  const running = root
    .getAnimations()
    .filter(one => one.effect.getComputedTiming().iterations !== Number.POSITIVE_INFINITY);
  await Promise.allSettled(running.map(one => one.finished));
}

/** Writes a picture of a page or a locator to `$SHOTS/NAME.png`. Does nothing when `SHOTS` is not set. */
export async function shot(target, name, folder = process.env.SHOTS) {
  if (folder) await target.screenshot({ path: join(folder, `${name}.png`) });
}

/** Waits until `look` returns a true value in the page. It may be async, unlike with `page.waitForFunction`. */
export function untilIn(page, look, what) {
  const once = () =>
    page.evaluate(look).catch(error => {
      // The page is loading another document.
      if (!/context was destroyed|navigat/i.test(error.message)) throw error;
    });
  return until(once, what);
}

/** Waits until `look` returns a true value. After the timeout the error contains its last value. */
export async function until(look, what) {
  const end = Date.now() + PATIENCE_MS;
  let last;
  while (Date.now() < end) {
    last = await look();
    if (last) return last;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  assert.fail(`${what} did not happen, last seen: ${JSON.stringify(last)}`);
}
