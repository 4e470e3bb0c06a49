// The position of the call window. Dragging and keys move it, and it always stays on the page.

export interface Spot {
  left: number;
  top: number;
}

export interface Size {
  width: number;
  height: number;
}

const MARGIN = 8;
const STEP = 32;

/** The position nearest to `wanted` at which the whole window is on the page. */
export function within(page: Size, size: Size, wanted: Spot): Spot {
  const clamp = (value: number, most: number) => Math.max(MARGIN, Math.min(value, most - MARGIN));
  return {
    left: clamp(wanted.left, Math.max(2 * MARGIN, page.width - size.width)),
    top: clamp(wanted.top, Math.max(2 * MARGIN, page.height - size.height)),
  };
}

/** The position after one step of an arrow key. Undefined for another key. */
export function stepped(from: Spot, key: string): Spot | undefined {
  const step = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[
    key
  ];
  return step && { left: from.left + (step[0] ?? 0), top: from.top + (step[1] ?? 0) };
}
