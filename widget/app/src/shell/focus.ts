// Moves the focus between the page and the widget, and keeps it in a panel that covers the page. Fetched with the
// first panel.

import type { OpenShell } from './open_shell.ts';

export function focusables(within: HTMLElement): HTMLElement[] {
  const candidates = within.querySelectorAll<HTMLElement>(
    'button:not(:disabled), textarea, input, a[href], [tabindex="0"]',
  );
  return Array.from(candidates).filter(
    one => one.tabIndex >= 0 && one.closest('[inert]') === null && one.getClientRects().length > 0,
  );
}

/** The panels of all widgets on the page. */
const shells = new Map<HTMLElement, OpenShell>();
let pageFocus: HTMLElement | null = null;
const rootOf = (panel: HTMLElement) => panel.getRootNode() as ShadowRoot;

/** F6 or Alt+C moves the focus from the page to each open widget in turn, and back to its place in the page. */
export function cycle(panel: HTMLElement, shell: OpenShell): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const altC = event.altKey && !event.ctrlKey && !event.metaKey && event.code === 'KeyC';
    if ((event.key !== 'F6' && !altC) || event.defaultPrevented) return;
    const open = Array.from(shells.keys())
      .filter(one => shells.get(one)?.state().open && one.getClientRects().length > 0)
      .sort((a, b) => (rootOf(a).host.compareDocumentPosition(rootOf(b).host) & 2) - 1);
    if (open.length === 0) return;
    event.preventDefault();
    const at = open.findIndex(one => one.contains(rootOf(one).activeElement));
    const [here, next] = [open[at], open[at + 1]];
    if (here === undefined) pageFocus = document.activeElement as HTMLElement | null;
    // The page's last focus may have been its body, which cannot take the focus back. So remove it here.
    else (rootOf(here).activeElement as HTMLElement).blur();
    if (next) (next.querySelector<HTMLElement>('.pane-chat textarea') ?? focusables(next)[0])?.focus();
    else {
      if (pageFocus?.isConnected) pageFocus.focus();
      pageFocus = null;
    }
  };
  shells.set(panel, shell);
  // Key events of the widget end at its host element; those of the page reach the window.
  const places = [window, rootOf(panel)];
  for (const one of places) one.addEventListener('keydown', onKeyDown as EventListener);
  return () => {
    shells.delete(panel);
    for (const one of places) one.removeEventListener('keydown', onKeyDown as EventListener);
  };
}

/** Keeps Tab in the panel. On a phone the panel covers the page. */
export function keepInside(event: KeyboardEvent, panel: HTMLElement): void {
  const all = focusables(panel);
  const active = rootOf(panel).activeElement;
  const edge = event.shiftKey ? all[0] : all.at(-1);
  if (active !== edge && active !== panel) return;
  event.preventDefault();
  step(event, panel);
}

/** Moves the focus as Tab does, and from each end of the panel to the other one. */
export function step({ shiftKey }: KeyboardEvent, panel: HTMLElement): void {
  const all = focusables(panel);
  const at = all.indexOf(rootOf(panel).activeElement as HTMLElement);
  (shiftKey ? all.at(Math.max(at, 0) - 1) : all[(at + 1) % all.length])?.focus();
}
