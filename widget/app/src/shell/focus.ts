// Where the focus may go: cycling between page and widget, and nothing behind a sheet that scrolls.

import { useEffect } from 'preact/hooks';
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
export function useFocusCycle(panel: { current: HTMLElement | null }, shell: OpenShell): void {
  useEffect(() => {
    let pageFocus: HTMLElement | null = null;
    const onKeyDown = (event: KeyboardEvent) => {
      const altC = event.altKey && !event.ctrlKey && !event.metaKey && event.code === 'KeyC';
      if ((event.key !== 'F6' && !altC) || event.defaultPrevented || !shell.state().open) return;
      const element = panel.current;
      if (element === null) return;
      const inside = (element.getRootNode() as ShadowRoot).activeElement;
      event.preventDefault();
      if (inside !== null && element.contains(inside)) {
        if (pageFocus?.isConnected) pageFocus.focus();
        else (inside as HTMLElement).blur();
      } else {
        pageFocus = document.activeElement as HTMLElement | null;
        (element.querySelector<HTMLElement>('.pane-chat textarea') ?? focusables(element)[0])?.focus();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [panel, shell]);
}

/** The page under a sheet stays where it is. */
export function useScrollLock(locked: boolean): void {
  useEffect(() => {
    if (!locked) return;
    const { style } = document.documentElement;
    const before = style.overflow;
    style.overflow = 'hidden';
    return () => {
      style.overflow = before;
    };
  }, [locked]);
}
