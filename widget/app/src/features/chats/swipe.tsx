// Swipe actions of a row in the chat list: towards the end marks the chat as read or unread, towards the
// beginning archives it.

import type { ConversationKey } from '@kith/client';
import { useEffect } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { isRtl } from '../../wording/is_rtl.ts';
import { rowActions } from './row_menu.ts';
import css from './swipe.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

/** A swipe of at least this many pixels runs its action. */
const FAR = 80;
/** A swipe starts after this many horizontal pixels. A longer vertical movement before that is scrolling. */
const BEGINS = 12;

export function Swipe({ list }: { list: { current: HTMLElement | null } }) {
  useStyles(css);
  const context = useAppContext();
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const actions = (key: ConversationKey) => {
      const items = rowActions(context, context.client.conversation(key), Date.now());
      return { end: items[0], start: items.at(-1) };
    };
    return swipes(element, actions);
  }, [list, context]);
  return null;
}

type SwipeActions = (key: ConversationKey) => Record<'end' | 'start', MenuItem | undefined>;

/** Adds swipe listeners for the rows in `list`. Returns a function that removes them. */
export function swipes(list: HTMLElement, actions: SwipeActions): () => void {
  let drawn: { row: HTMLElement; x: number; y: number; moved: number } | undefined;
  const letGo = () => {
    if (drawn === undefined) return;
    drawn.row.style.removeProperty('--drawn');
    delete drawn.row.dataset.swipe;
    drawn = undefined;
  };
  const deedOf = (row: HTMLElement, moved: number) => {
    const key = row.dataset.chat as ConversationKey;
    return actions(key)[moved < 0 === isRtl(row) ? 'end' : 'start'];
  };
  const down = (event: PointerEvent) => {
    letGo();
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-chat]');
    if (event.pointerType !== 'touch' || !event.isPrimary || row === null) return;
    drawn = { row, x: event.clientX, y: event.clientY, moved: 0 };
  };
  const move = (event: PointerEvent) => {
    if (drawn === undefined) return;
    const moved = event.clientX - drawn.x;
    if (drawn.moved === 0) {
      if (Math.abs(event.clientY - drawn.y) > BEGINS) return letGo();
      if (Math.abs(moved) < BEGINS) return;
    }
    drawn.moved = moved;
    const { row } = drawn;
    row.style.setProperty('--drawn', `${moved}px`);
    row.dataset.swipe = deedOf(row, moved)?.text ?? '';
    row.classList.toggle('is-far', Math.abs(moved) >= FAR);
    row.classList.toggle('is-drawn-back', moved < 0 !== isRtl(row));
  };
  const up = () => {
    if (drawn === undefined) return;
    const { row, moved } = drawn;
    letGo();
    if (moved !== 0) addEventListener('click', swallow, { capture: true, once: true });
    // If no click follows the swipe, the next click is a real one and must not be swallowed.
    setTimeout(() => removeEventListener('click', swallow, { capture: true }));
    if (Math.abs(moved) >= FAR) deedOf(row, moved)?.run();
  };
  list.addEventListener('pointerdown', down);
  list.addEventListener('pointermove', move);
  list.addEventListener('pointerup', up);
  list.addEventListener('pointercancel', letGo);
  return () => {
    list.removeEventListener('pointerdown', down);
    list.removeEventListener('pointermove', move);
    list.removeEventListener('pointerup', up);
    list.removeEventListener('pointercancel', letGo);
  };
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
