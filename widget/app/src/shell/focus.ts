// Where the focus may go: from the page into the widget and back, and around in a sheet that covers the page. Fetched with
// the first panel.

import type { OpenShell } from './open_shell.ts';

export function focusables(within: HTMLElement): HTMLElement[] {
  const candidates = within.querySelectorAll<HTMLElement>(
    'button:not(:disabled), textarea, input, a[href], [tabindex="0"]',
  );
  return Array.from(candidates).filter(
    one => one.tabIndex >= 0 && one.closest('[inert]') === null && one.getClientRects().length > 0,
  );
}

/** F6 or Alt+C: from the page into the widget, and back to where one was. */
export function cycle(panel: HTMLElement, shell: OpenShell): () => void {
  let pageFocus: HTMLElement | null = null;
  const onKeyDown = (event: KeyboardEvent) => {
    const altC = event.altKey && !event.ctrlKey && !event.metaKey && event.code === 'KeyC';
    if ((event.key !== 'F6' && !altC) || event.defaultPrevented || !shell.state().open) return;
    const inside = (panel.getRootNode() as ShadowRoot).activeElement;
    event.preventDefault();
    if (inside !== null && panel.contains(inside)) {
      // The page may have had it nowhere, which is its body.
      (inside as HTMLElement).blur();
      if (pageFocus?.isConnected) pageFocus.focus();
    } else {
      pageFocus = document.activeElement as HTMLElement | null;
      (panel.querySelector<HTMLElement>('.pane-chat textarea') ?? focusables(panel)[0])?.focus();
    }
  };
  // Key events of the widget end at its host element; those of the page reach the window.
  const places = [window, panel.getRootNode()];
  for (const one of places) one.addEventListener('keydown', onKeyDown as EventListener);
  return () => {
    for (const one of places) one.removeEventListener('keydown', onKeyDown as EventListener);
  };
}

/** A phone's sheet covers the page, so Tab stays in it. */
export function keepInside(event: KeyboardEvent, panel: HTMLElement): void {
  const all = focusables(panel);
  const active = (panel.getRootNode() as ShadowRoot).activeElement;
  const edge = event.shiftKey ? all[0] : all.at(-1);
  if (active !== edge && active !== panel) return;
  event.preventDefault();
  (event.shiftKey ? all.at(-1) : all[0])?.focus();
}
