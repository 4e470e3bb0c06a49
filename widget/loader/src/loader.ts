// The script at /kith.js: adds the launcher to the page, sets `window.Kith`, and never throws into the page.

import type { Kith } from './kith.ts';
import { createKith } from './page_api.ts';
import { readSettings, type TagSettings } from './settings.ts';
import type { Mount } from './stage.ts';

/** Paths of the modules, which the build inserts. */
declare const KITH_CLIENT: string;
declare const KITH_APP: string;
declare const KITH_BACKGROUND: string;

begin();

function begin(): void {
  try {
    // A tag manager may add the tag twice.
    if (window.Kith) return;
    const script = document.currentScript ?? document.querySelector('script[data-site][src*="kith.js"]');
    if (!(script instanceof HTMLScriptElement)) return;
    const { documentElement: page } = document;
    const settings = readSettings(script, {
      lang: page.lang,
      dir: page.dir,
      languages: navigator.languages,
      path: location.pathname,
      title: document.title,
    });
    if (settings?.mode === 'embed') return embed(settings, script);
    // `html`, because an async script may run before there is a body.
    if (settings) window.Kith = start(settings, document.body ?? document.documentElement);
  } catch (error) {
    console.error('kith:', error);
  }
}

/** Starts the embedded chat in an element of the page, which may come later in the document than the tag. */
function embed(settings: TagSettings, script: HTMLScriptElement): void {
  const place = settings.into === undefined ? script.parentElement : document.querySelector(settings.into);
  if (place instanceof HTMLElement && place !== document.head) {
    window.Kith ??= start(settings, place);
  } else if (document.readyState === 'loading') {
    addEventListener('DOMContentLoaded', () => embed(settings, script), { once: true });
  } else {
    console.warn('kith: there is no element to embed the room in; data-into="…" says which');
  }
}

function start(settings: TagSettings, place: HTMLElement): Kith {
  const part = <T>(path: string) => late<T>(`${settings.server}/${path}`);
  const background = part<typeof import('./background.ts')>(KITH_BACKGROUND);
  const parts = {
    client: part<typeof import('./client_entry.ts')>(KITH_CLIENT),
    app: part<{ default: Mount }>(KITH_APP),
    push: background,
    badge: background,
    idle: whenIdle,
  };
  return createKith(settings, parts, place);
}

/**
 * Fetches a module on demand. A browser remembers a failed fetch of a module by its whole address until the page is
 * unloaded, so a retry needs another fragment.
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

/** Calls after the page has loaded and is idle. Safari has no `requestIdleCallback`. */
function whenIdle(call: () => void): void {
  const idle = () => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(call, { timeout: 3_000 });
    else setTimeout(call, 500);
  };
  if (document.readyState === 'complete') idle();
  else addEventListener('load', idle, { once: true });
}
