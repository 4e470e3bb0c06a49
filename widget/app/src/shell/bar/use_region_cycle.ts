// F6 or Alt+C moves the focus from the page to the panel, each window, the bar, and back to the page.

import { useEffect } from 'preact/hooks';
import { focusables } from '../focus.ts';

export function useRegionCycle(strip: { current: HTMLElement | null }): void {
  useEffect(() => {
    let pageFocus: HTMLElement | null = null;
    const onKeyDown = (event: KeyboardEvent) => {
      const altC = event.altKey && !event.ctrlKey && !event.metaKey && event.code === 'KeyC';
      const root = strip.current?.getRootNode() as ShadowRoot | undefined;
      if ((event.key !== 'F6' && !altC) || event.defaultPrevented || root === undefined) return;
      event.preventDefault();
      const stops = Array.from(root.querySelectorAll<HTMLElement>('.panel, .bar-strip'));
      const at = stops.findIndex(one => one.contains(root.activeElement));
      if (at === -1) pageFocus = document.activeElement as HTMLElement | null;
      const next = event.shiftKey ? (at === -1 ? stops.length : at) - 1 : at + 1;
      const stop = stops[next];
      if (stop)
        (stop.querySelector<HTMLElement>('.pane-chat textarea') ?? focusables(stop)[0] ?? stop).focus();
      else {
        if (pageFocus?.isConnected) pageFocus.focus();
        // If no element of the page had the focus, remove it from the widget.
        (root.activeElement as HTMLElement | null)?.blur();
      }
    };
    // Capture the event before the panel's handler, which cycles only between panels and the page.
    addEventListener('keydown', onKeyDown, true);
    return () => removeEventListener('keydown', onKeyDown, true);
  }, [strip]);
}
