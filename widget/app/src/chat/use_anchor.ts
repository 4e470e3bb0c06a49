// Keeps what is read where it is: at the end while new messages come, in place while older ones are put above.

import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import type { Item } from './items.ts';

interface Anchor {
  id: string;
  /** Distance from the top of the viewport. */
  top: number;
}

type Scroller = { current: HTMLDivElement | null };

/**
 * Scroll anchoring by hand, because Safari has none and virtual windows confuse that of the others. The owner calls
 * `remember` first thing in its scroll handler: whatever draws before that would scroll back to the old place.
 */
export function useAnchor(scroller: Scroller, shown: readonly Item[], hasUnread: boolean) {
  const stuck = useRef(true);
  const anchor = useRef<Anchor>(undefined);
  const placed = useRef(false);

  const remember = useCallback(() => {
    anchor.current = scroller.current ? firstVisible(scroller.current) : undefined;
  }, [scroller]);
  const settle = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    if (stuck.current) element.scrollTop = element.scrollHeight;
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
    if (!placed.current && shown.some(item => item.kind === 'message')) {
      placed.current = true;
      const line = hasUnread ? element.querySelector<HTMLElement>('[data-item=unread]') : null;
      if (line !== null) {
        const room = element.clientHeight / 4;
        element.scrollTop = line.offsetTop - room;
        stuck.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
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

  return { stuck, remember, toEnd };
}

function firstVisible(scroller: HTMLElement): Anchor | undefined {
  const top = scroller.getBoundingClientRect().top;
  const all = scroller.querySelectorAll<HTMLElement>('[data-message]');
  let low = 0;
  let high = all.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.getBoundingClientRect().bottom ?? 0) > top) high = middle;
    else low = middle + 1;
  }
  const found = all[low];
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
