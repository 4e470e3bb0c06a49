// A right click, or a finger that stays: iOS tells of that in no other way.

const PRESS_MS = 480;
/** A finger that moves further scrolls. */
const MOVES = 10;

/** Handlers for an element whose long press or right click opens something. */
export function longPress(open: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  /** Text was selected before the click; macOS selects a word by the click itself. */
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
    /** Android opens its own menu for the same press. */
    onContextMenu(event: Event) {
      if (matchMedia('(hover: hover)').matches) {
        // The browser's own menu copies what is selected, and opens and saves links and media.
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
