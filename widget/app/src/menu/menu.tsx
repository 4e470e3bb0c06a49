// A menu over the panel, at the button that opened it.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../icon/icon.tsx';

export interface MenuRequest {
  /** What it hangs from, and where focus returns to. */
  anchor: HTMLElement;
  label: string;
  items: readonly MenuItem[];
}

export interface MenuItem {
  icon: IconName;
  text: string;
  danger?: boolean;
  run(): void;
}

export function Menu({ request, onClose }: { request: MenuRequest; onClose: () => void }) {
  const menu = useRef<HTMLDivElement>(null);
  const chosen = useRef<MenuItem>(undefined);
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
      // Only now is what lies below no longer inert, so that it can take the focus.
      request.anchor.focus({ preventScroll: true });
      chosen.current?.run();
    };
  }, [request]);

  const close = (item?: MenuItem) => {
    chosen.current = item;
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const list = items(menu.current);
    const at = list.indexOf(event.target as HTMLElement);
    const step = { ArrowDown: at + 1, ArrowUp: at - 1 + list.length, Home: 0, End: list.length - 1 }[
      event.key
    ];
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
  return Array.from(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []);
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Below the anchor if there is room, else above; inside the frame in any case. Relative to the frame. */
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
