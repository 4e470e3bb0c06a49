// Keeps the scroll position: at the end when new messages arrive, and at the same message when older ones
// are added above.

import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import type { Item } from './message_list_items.ts';

interface Anchor {
  id: string;
  /** Distance from the top of the viewport, in pixels. */
  top: number;
}

type Scroller = { current: HTMLDivElement | null };

/** Within this many pixels of the end, the list counts as scrolled to the end. */
const AT_END = 60;

/**
 * Manual scroll anchoring: Safari has no scroll anchoring, and a virtual window confuses that of other
 * browsers. `endIsShown`: no items are left out below, so the end of the elements is the end of the chat.
 * `lineIsAwaited`: the page with the first unread message is loading, and the initial scroll position is
 * set when it arrives.
 *
 * Browsers dispatch a scroll event some time after the scroll position has changed. A render in between
 * would restore the old position and undo the user's scrolling. Therefore the position is read before each
 * render, while the elements are still unchanged. It is read again in the scroll event: the owner calls
 * `scrolled`.
 */
export function useScrollAnchor(
  scroller: Scroller,
  shown: readonly Item[],
  { lineIsAwaited, endIsShown }: { lineIsAwaited: boolean; endIsShown: boolean },
) {
  const stuck = useRef(true);
  const anchor = useRef<Anchor>(undefined);
  const placed = useRef(false);
  /** The scroll position that was last set or read. */
  const lastTop = useRef(0);
  /**
   * The last height of the viewport. A viewport that shrinks, because of an element below it, is not
   * scrolled by the user.
   */
  const lastHeight = useRef(0);
  /** `endIsShown` of the elements in the DOM, not of the current render. */
  const endIsDrawn = useRef(endIsShown);

  const remember = useCallback(() => {
    const element = scroller.current;
    anchor.current = element ? firstVisible(element) : undefined;
    lastTop.current = element?.scrollTop ?? 0;
    lastHeight.current = element?.clientHeight ?? 0;
  }, [scroller]);
  const scrolled = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const resized = element.clientHeight !== lastHeight.current;
    // The event for a scroll of our own arrives late. If content has grown since then, for example a lazy
    // part, the user has not scrolled away from the end.
    const moved = element.scrollTop !== lastTop.current;
    if (placed.current && stuck.current && (resized || !moved)) element.scrollTop = element.scrollHeight;
    remember();
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    stuck.current = endIsDrawn.current && below < AT_END;
  }, [scroller, remember]);
  if (placed.current && scroller.current && scroller.current.scrollTop !== lastTop.current) scrolled();
  const settle = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    if (stuck.current) element.scrollTop = endOf(element);
    else if (anchor.current) restore(element, anchor.current);
    remember();
  }, [scroller, remember]);
  const toEnd = useCallback(() => {
    stuck.current = true;
    settle();
  }, [settle]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    endIsDrawn.current = endIsShown;
    // At the end, a reader gets a new position if the page with the line arrives later, for example after a
    // reconnect.
    if (lineIsAwaited && stuck.current) placed.current = false;
    if (!placed.current && !lineIsAwaited && shown.some(item => item.kind === 'message')) {
      placed.current = true;
      const line = element.querySelector<HTMLElement>('[data-item=unread]');
      if (line !== null) {
        const room = element.clientHeight / 4;
        element.scrollTop = line.offsetTop - room;
        stuck.current = endIsShown && element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
        remember();
        return;
      }
    }
    settle();
  });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    // The size changes with the keyboard of a phone, a growing composer, or a line that wraps after a resize.
    const observer = new ResizeObserver(settle);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [scroller, settle]);

  return { stuck, scrolled, toEnd, placed };
}

/**
 * The scroll position of the end. A hidden page stops at the unread line, because the reader has not seen
 * the messages below it.
 */
function endOf(element: HTMLElement): number {
  const line =
    document.visibilityState === 'hidden' && element.querySelector<HTMLElement>('[data-item=unread]');
  return line ? line.offsetTop - element.clientHeight / 4 : element.scrollHeight;
}

/** The first message whose lower edge is below `y`, in pixels of the browser's viewport. */
export function messageBelow(scroller: HTMLElement, y: number): HTMLElement | undefined {
  const all = scroller.querySelectorAll<HTMLElement>('[data-message]');
  let low = 0;
  let high = all.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.getBoundingClientRect().bottom ?? 0) > y) high = middle;
    else low = middle + 1;
  }
  return all[low];
}

function firstVisible(scroller: HTMLElement): Anchor | undefined {
  const top = scroller.getBoundingClientRect().top;
  const found = messageBelow(scroller, top);
  const id = found?.dataset.message;
  if (found === undefined || id === undefined) return undefined;
  return { id, top: found.getBoundingClientRect().top - top };
}

function restore(scroller: HTMLElement, anchor: Anchor): void {
  for (const element of Array.from(scroller.querySelectorAll<HTMLElement>('[data-message]'))) {
    if (element.dataset.message !== anchor.id) continue;
    const moved = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top;
    if (Math.abs(moved) > 0.5) scroller.scrollTop += moved;
    return;
  }
}
