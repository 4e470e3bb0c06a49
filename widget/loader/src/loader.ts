// The script at /kith.js: puts the launcher on the page and `window.Kith` beside it, and never throws into the page.

import { createKith, type Kith } from './page_api.ts';
import { readSettings, type Settings } from './settings.ts';
import type { Mount } from './stage.ts';

/** Paths of the modules, put in by the build. */
declare const KITH_CLIENT: string;
declare const KITH_APP: string;

declare global {
  interface Window {
    Kith?: Kith;
  }
}

begin();

function begin(): void {
  try {
    // A tag manager may add the tag twice.
    if (window.Kith) return;
    const script = document.currentScript ?? document.querySelector('script[data-site][src*="kith.js"]');
    if (!(script instanceof HTMLScriptElement)) return;
    const { documentElement: page } = document;
    const settings = readSettings(script, { lang: page.lang, dir: page.dir, languages: navigator.languages });
    if (settings) window.Kith = start(settings);
  } catch (error) {
    console.error('kith:', error);
  }
}

function start(settings: Settings): Kith {
  const fetchClient = late<typeof import('./session.ts')>(`${settings.server}/${KITH_CLIENT}`);
  const fetchApp = late<{ default: Mount }>(`${settings.server}/${KITH_APP}`);
  // `html`, because an async script may run before there is a body.
  const place = document.body ?? document.documentElement;
  return createKith(settings, { client: fetchClient, app: fetchApp, idle: whenIdle }, place);
}

/**
 * Fetches a module once it is wanted. A browser remembers a fetch that failed for as long as the page lives, under the
 * whole address: another fragment is another try.
 */
function late<T>(address: string): () => Promise<T> {
  let module: Promise<T> | undefined;
  let tries = 0;
  return () => {
    const url = tries === 0 ? address : `${address}#${tries}`;
    module ??= (import(/* @vite-ignore */ url) as Promise<T>).catch(error => {
      module = undefined;
      tries += 1;
      throw error;
    });
    return module;
  };
}

/** After the page has loaded and paused; Safari has no `requestIdleCallback`. */
function whenIdle(call: () => void): void {
  const idle = () => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(call, { timeout: 3_000 });
    else setTimeout(call, 500);
  };
  if (document.readyState === 'complete') idle();
  else addEventListener('load', idle, { once: true });
}
