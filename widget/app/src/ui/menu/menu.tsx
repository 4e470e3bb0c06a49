// A menu over the panel, placed at the button that opened it.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isRtl } from '../../wording/is_rtl.ts';
import { Icon, type IconName } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './menu.css?inline';

export interface MenuRequest {
  /** The element that the menu is attached to. Focus returns to it. */
  anchor: HTMLElement;
  label: string;
  items: readonly MenuItem[];
  /** A row of short items above the others, for example emoji. */
  quick?: { label: string; items: readonly QuickItem[] };
}

export interface QuickItem {
  text: string;
  label: string;
  icon?: IconName;
  /** The state of a toggle; undefined if the item is no toggle. */
  on?: boolean;
  run(): void;
}

export interface MenuItem {
  icon: IconName;
  text: string;
  danger?: boolean;
  run(): void;
}

export function Menu({ request, onClose }: { request: MenuRequest; onClose: () => void }) {
  useStyles(css);
  const menu = useRef<HTMLDivElement>(null);
  const chosen = useRef<{ run(): void }>(undefined);
  const [place, setPlace] = useState<{ left: number; top: number }>();

  useLayoutEffect(() => {
    const element = menu.current;
    const frame = element?.parentElement?.getBoundingClientRect();
    if (!element || !frame) return;
    const at = request.anchor.getBoundingClientRect();
    setPlace(placeIn(frame, at, { width: element.offsetWidth, height: element.offsetHeight }));
    items(element)[0]?.focus({ preventScroll: true });
    request.anchor.setAttribute('aria-expanded', 'true');
    return () => {
      request.anchor.setAttribute('aria-expanded', 'false');
      // The content below is no longer inert at this time, so it can take the focus.
      request.anchor.focus({ preventScroll: true });
      chosen.current?.run();
    };
  }, [request]);

  const close = (item?: { run(): void }) => {
    chosen.current = item;
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const list = items(menu.current);
    const at = list.indexOf(event.target as HTMLElement);
    const quick = request.quick?.items.length ?? 0;
    const ahead = isRtl(event.currentTarget as HTMLElement) ? -1 : 1;
    const beside = at < quick ? { ArrowRight: at + ahead, ArrowLeft: at - ahead }[event.key] : undefined;
    const step =
      beside === undefined
        ? {
            // From any item of the quick row, Down goes to the first item below the row.
            ArrowDown: at < quick ? quick : at + 1,
            ArrowUp: (at < quick ? 0 : at) - 1 + list.length,
            Home: 0,
            End: list.length - 1,
          }[event.key]
        : (beside + quick) % quick;
    if (step !== undefined) list[step % list.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <>
      <div class="menu-veil" onPointerDown={() => close()} />
      <div
        ref={menu}
        class="menu"
        role="menu"
        tabIndex={-1}
        aria-label={request.label}
        style={place && { left: `${place.left}px`, top: `${place.top}px` }}
        onKeyDown={onKeyDown}
      >
        {request.quick && (
          <div class="menu-quick" role="group" aria-label={request.quick.label}>
            {request.quick.items.map(item => (
              <button
                key={item.text}
                type="button"
                role={item.on === undefined ? 'menuitem' : 'menuitemcheckbox'}
                {...(item.on !== undefined && { 'aria-checked': item.on })}
                aria-label={item.label}
                title={item.label}
                tabIndex={-1}
                class="menu-quick-item"
                onClick={() => close(item)}
              >
                {item.icon ? <Icon name={item.icon} /> : item.text}
              </button>
            ))}
          </div>
        )}
        {request.items.map(item => (
          <button
            key={item.text}
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={item.danger ? 'menu-item danger' : 'menu-item'}
            onClick={() => close(item)}
          >
            <Icon name={item.icon} />
            {item.text}
          </button>
        ))}
      </div>
    </>
  );
}

function items(menu: HTMLElement | null): HTMLElement[] {
  return Array.from(menu?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []);
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A position relative to the frame: below the anchor if the menu fits, else above, and always inside the frame. */
export function placeIn(frame: Box, anchor: Box, size: { width: number; height: number }) {
  const below = anchor.top - frame.top + anchor.height + 4;
  const above = anchor.top - frame.top - size.height - 4;
  const top = below + size.height <= frame.height - MARGIN || above < MARGIN ? below : above;
  const wanted =
    anchor.left - frame.left + anchor.width / 2 > frame.width / 2
      ? anchor.left - frame.left + anchor.width - size.width
      : anchor.left - frame.left;
  return {
    left: clamp(wanted, MARGIN, frame.width - size.width - MARGIN),
    top: clamp(top, MARGIN, frame.height - size.height - MARGIN),
  };
}

const MARGIN = 8;

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
