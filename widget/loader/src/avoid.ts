// Keeps the button and the panel above elements that the page does not want covered, such as a cookie notice.

/** Polls, because no observer reports that a notice slides in, is hidden by a class, or is added later. */
const LOOK_MS = 1_000;
/** The distance from the page's edge to the far side of the button, in pixels. */
const CORNER = 100;

/** Sets `--kith-lift` on `host` until the returned function is called. */
export function avoid(selectors: string, host: HTMLElement, side: 'left' | 'right'): () => void {
  const look = () => {
    if (document.hidden) return;
    const lift = liftOver(boxesOf(selectors), side, { width: innerWidth, height: innerHeight });
    host.style.setProperty('--kith-lift', `${lift}px`);
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  addEventListener('resize', look);
  return () => {
    clearInterval(timer);
    removeEventListener('resize', look);
  };
}

export type Box = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

/** Lifts the button above an element in the corner, unless that would put it into the middle of the page. */
export function liftOver(
  boxes: readonly Box[],
  side: 'left' | 'right',
  page: { width: number; height: number },
): number {
  let lift = 0;
  for (const { left, right, top, bottom } of boxes) {
    const beside = side === 'left' ? left > CORNER : right < page.width - CORNER;
    const above = bottom < page.height - CORNER - lift;
    if (beside || above || top >= page.height || bottom <= top) continue;
    lift = Math.max(lift, Math.round(page.height - top));
  }
  return lift > page.height / 2 ? 0 : lift;
}

/** An invalid selector causes one warning on the console and avoids nothing. */
function boxesOf(selectors: string): Box[] {
  try {
    return Array.from(document.querySelectorAll(selectors), one => one.getBoundingClientRect());
  } catch {
    if (!complained) console.warn(`kith: data-avoid="${selectors}" is no selector`);
    complained = true;
    return [];
  }
}

let complained = false;
