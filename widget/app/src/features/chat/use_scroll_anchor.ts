// Keeps what is read where it is: at the end while new messages come, in place while older ones are put above.

import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import type { Item } from './message_list_items.ts';

interface Anchor {
  id: string;
  /** Distance from the top of the viewport. */
  top: number;
}

type Scroller = { current: HTMLDivElement | null };

/** So near to the end, in pixels, that it counts as being there. */
const AT_END = 60;

/**
 * Scroll anchoring by hand, because Safari has none and virtual windows confuse that of the others. `endIsShown` says
 * that nothing is left out below: only then the end of the elements is the end of the chat. `lineIsAwaited`: the page with
 * the first unread message is on the way; the chat gets its first place when it is there.
 *
 * A browser tells of a scroll some time after it moved. Whatever draws in between would put back the old place and so
 * undo what the member's finger did; therefore the place is taken anew before each drawing, while the elements are
 * still those that were scrolled, and once more when the browser tells (`scrolled`, called by the owner).
 */
export function useScrollAnchor(
  scroller: Scroller,
  shown: readonly Item[],
  { lineIsAwaited, endIsShown }: { lineIsAwaited: boolean; endIsShown: boolean },
) {
  const stuck = useRef(true);
  const anchor = useRef<Anchor>(undefined);
  const placed = useRef(false);
  /** Where the scroller was left by us or was last seen. */
  const lastTop = useRef(0);
  /** A viewport that has become smaller, by what came below it, was scrolled by nobody. */
  const lastHeight = useRef(0);
  /** `endIsShown` of what is drawn, not of what is about to be. */
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
    // A browser tells late of what we scrolled ourselves: what has grown since then, as a part that comes late, moved nobody away.
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
    // A reader at the end has no place yet where the page with the line comes later, as after a lost connection.
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
    // The keyboard of a phone, a growing composer, a wrapped line after a resize.
    const observer = new ResizeObserver(settle);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [scroller, settle]);

  return { stuck, scrolled, toEnd, placed };
}

/** Where the end is; in a hidden page not further than the line of the unread, which the reader has not seen. */
function endOf(element: HTMLElement): number {
  const line =
    document.visibilityState === 'hidden' && element.querySelector<HTMLElement>('[data-item=unread]');
  return line ? line.offsetTop - element.clientHeight / 4 : element.scrollHeight;
}

/** The first message whose lower edge is below `y`, in pixels of the window. */
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
