// The button in the corner, in its own shadow root. The host element has no size and takes no clicks.

import { avoid } from './avoid.ts';
import type { Settings } from './settings.ts';
import { wordingFor } from './wording.ts';

export interface Launcher {
  host: HTMLElement;
  root: ShadowRoot;
  button: HTMLButtonElement;
  setUnread(count: number): void;
  setOpen(open: boolean): void;
  setState(state: LauncherState): void;
  remove(): void;
}

/** `busy`: the interface is being fetched. `away`: the server cannot be reached. */
export type LauncherState = 'ready' | 'busy' | 'away';

export function createLauncher(settings: Settings, place: HTMLElement): Launcher {
  const wording = wordingFor(settings.lang);
  const host = document.createElement('kith-widget');
  const root = host.attachShadow({ mode: 'closed', delegatesFocus: false });
  addStyles(root, settings.nonce);
  // Keep key and text events from the page's shortcuts: the page cannot see that the target is a text field.
  for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'paste', 'copy', 'cut'])
    host.addEventListener(type, event => event.stopPropagation());

  const button = document.createElement('button');
  button.type = 'button';
  button.className = `launcher ${settings.position}`;
  button.hidden = settings.mode === 'inbox' || settings.mode === 'embed';
  host.toggleAttribute('data-embedded', settings.mode === 'embed');
  button.setAttribute('aria-expanded', 'false');
  button.lang = settings.lang;
  const badge = document.createElement('span');
  badge.className = 'launcher-badge';
  badge.hidden = true;
  // The accessible name of the button already contains the number.
  badge.setAttribute('aria-hidden', 'true');
  button.append(bubbleIcon(), badge);
  root.append(button);

  let unread = 0;
  let state: LauncherState = 'ready';
  const draw = () => {
    badge.hidden = unread === 0;
    badge.textContent = unread > 99 ? '99+' : String(unread);
    const count = unread > 0 ? `, ${wording.unread(unread)}` : '';
    button.setAttribute('aria-label', (state === 'away' ? wording.away : wording.open) + count);
    button.title = state === 'away' ? wording.away : '';
    button.dataset.state = state;
    if (state === 'busy') button.setAttribute('aria-busy', 'true');
    else button.removeAttribute('aria-busy');
  };
  draw();
  dress(host, settings.theme);
  place.append(host);
  const end = settings.avoid && avoid(settings.avoid, host, settings.position);
  return {
    host,
    root,
    button,
    setUnread(count) {
      unread = count;
      draw();
    },
    setOpen: open => button.setAttribute('aria-expanded', String(open)),
    setState(next) {
      state = next;
      draw();
    },
    remove() {
      if (end) end();
      host.remove();
    },
  };
}

/** Sets the theme once. When the app runs, it follows changes of the system's scheme. */
function dress(host: HTMLElement, theme: Settings['theme']): void {
  const dark = theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  host.dataset.theme = dark ? 'dark' : 'light';
}

/**
 * Rules with `!important` on `:host` override the page's rules, even those with `!important`, because the rule of the
 * inner tree wins (CSS Cascade 5 §6.1). A page may set variables.
 */
const STYLES = `
:host {
  all: initial !important;
  position: fixed !important;
  display: block !important;
  width: 0 !important;
  height: 0 !important;
  z-index: var(--kith-z-index, 2147483000) !important;
}
:host([data-embedded]) {
  position: relative !important;
  width: 100% !important;
  height: var(--kith-embed-height, 520px) !important;
  z-index: auto !important;
}
:host([hidden]) { display: none !important; }
.launcher {
  all: initial;
  position: fixed;
  bottom: calc(var(--kith-offset-y, 20px) + var(--kith-lift, 0px) + env(safe-area-inset-bottom, 0px));
  box-sizing: border-box;
  width: var(--kith-launcher-size, 48px);
  height: var(--kith-launcher-size, 48px);
  display: grid;
  place-items: center;
  border-radius: 50%;
  cursor: pointer;
  color: var(--kith-accent-text, #fff);
  background: var(--kith-accent, #0e6b5e);
  box-shadow: 0 1px 3px rgb(0 0 0 / 20%), 0 6px 18px rgb(0 0 0 / 18%);
  transition: background-color 120ms, opacity 200ms;
  touch-action: manipulation;
  -webkit-tap-highlight-color: transparent;
}
:host([data-theme="dark"]) .launcher {
  color: var(--kith-accent-text, #06231e);
  background: var(--kith-accent, #53c5b0);
}
.launcher[hidden], .launcher-badge[hidden] { display: none; }
.left { left: calc(var(--kith-offset-x, 20px) + env(safe-area-inset-left, 0px)); }
.right { right: calc(var(--kith-offset-x, 20px) + env(safe-area-inset-right, 0px)); }
.launcher:hover { background: var(--kith-accent-hover, #0a574c); }
:host([data-theme="dark"]) .launcher:hover { background: var(--kith-accent-hover, #6fd4c1); }
.launcher:focus-visible {
  outline: 3px solid var(--kith-focus, #0e6b5e);
  outline-offset: 3px;
  box-shadow: 0 0 0 3px #fff;
}
.launcher[data-state="away"] { background: #6d6a66; color: #fff; box-shadow: none; }
.launcher[data-state="busy"] svg { animation: kith-busy 1s ease-in-out infinite alternate; }
.launcher svg { width: 24px; height: 24px; fill: none; stroke: currentColor; stroke-width: 1.8; pointer-events: none; }
.launcher-badge {
  position: absolute;
  top: -4px;
  right: -4px;
  min-width: 20px;
  height: 20px;
  box-sizing: border-box;
  padding: 0 5px;
  border-radius: 10px;
  font: 700 11px/20px system-ui, sans-serif;
  text-align: center;
  color: #fff;
  background: #b3261e;
  box-shadow: 0 0 0 2px #fff;
  pointer-events: none;
}
@keyframes kith-busy { to { opacity: 0.4; } }
@media print { .launcher { display: none; } }
@media (prefers-reduced-motion: reduce) {
  .launcher { transition: none; }
  .launcher[data-state="busy"] svg { animation: none; opacity: 0.6; }
}
@media (forced-colors: active) {
  .launcher, .launcher-badge { border: 1px solid ButtonText; }
}
`;

/** Constructed sheets need no permission from `style-src`. Browsers without them get a style element with the nonce. */
function addStyles(root: ShadowRoot, nonce: string | undefined): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    root.adoptedStyleSheets = [sheet];
  } catch {
    const style = document.createElement('style');
    if (nonce) style.nonce = nonce;
    style.textContent = STYLES;
    root.append(style);
  }
}

/** Builds the icon without `innerHTML`, which a page may forbid by Trusted Types. */
function bubbleIcon(): SVGElement {
  const draw = <K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string>) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const svg = draw('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' });
  svg.append(
    draw('path', {
      d: 'M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.5z',
      'stroke-linejoin': 'round',
    }),
    draw('path', { d: 'M8 8.5h8M8 11.5h5', 'stroke-linecap': 'round' }),
  );
  return svg;
}
