// Keeps the button and the panel above what the page does not want covered: a cookie notice, a button of its own.

/** Seconds are soon enough; and no observer tells when a notice slides in, is hidden by a class, or comes later. */
const LOOK_MS = 1_000;
/** From the page's edge to where the button ends. */
const CORNER = 100;

/** Lifts by `--kith-lift` on `host`, as long as it is on the page. Returns the way out. */
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

/** A selector that cannot be one is said once, and nothing is avoided. */
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
