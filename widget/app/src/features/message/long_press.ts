// Detects a right click or a long press. A timer detects the press, because iOS sends no `contextmenu` event.

const PRESS_MS = 480;
/** Pixels. If the finger moves further, the member scrolls and does not press. */
const MOVES = 10;

/** Event handlers for an element; a long press or a right click calls `open`. */
export function longPress(open: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  /** Whether text was selected before the click. A right click on macOS itself selects a word. */
  let selected = false;
  const end = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    onPointerDown(event: PointerEvent) {
      end();
      selected = String(getSelection() ?? '') !== '';
      if (event.pointerType !== 'touch' || !event.isPrimary) return;
      from = { x: event.clientX, y: event.clientY };
      timer = setTimeout(() => {
        timer = undefined;
        open();
      }, PRESS_MS);
    },
    onPointerMove(event: PointerEvent) {
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > MOVES) end();
    },
    onPointerUp: end,
    onPointerCancel: end,
    /** Android sends this event for a long press and would open its own menu. */
    onContextMenu(event: Event) {
      if (matchMedia('(hover: hover)').matches) {
        // The browser's own menu copies selected text, and opens and saves links and media.
        if (selected || (event.target as Element).closest('a, img, video, audio')) return;
        event.preventDefault();
        return open();
      }
      event.preventDefault();
      if (timer === undefined) return;
      end();
      open();
    },
  };
}
