// A finger that stays: iOS tells of it in no other way.

const PRESS_MS = 480;
/** A finger that moves further scrolls. */
const MOVES = 10;

/** Handlers for an element whose long press opens something. */
export function longPress(open: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  const end = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    onPointerDown(event: PointerEvent) {
      end();
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
      if (matchMedia('(hover: hover)').matches) return;
      event.preventDefault();
      if (timer === undefined) return;
      end();
      open();
    },
  };
}
