// Moves an element over the page, by pointer and by keys.

import { useCallback, useLayoutEffect, useState } from 'preact/hooks';
import { type Spot, stepped, within } from './window_position.ts';

interface Drag {
  /** Undefined: the position in the style sheet. */
  spot: Spot | undefined;
  onPointerDown(event: PointerEvent): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** The last position of a window. The next window of this page starts there. */
let left: Spot | undefined;

export function useDrag(element: { current: HTMLElement | null }, off: boolean): Drag {
  const [spot, setSpot] = useState<Spot | undefined>(left);
  const move = useCallback(
    (wanted: Spot) => {
      const box = element.current?.getBoundingClientRect();
      if (box === undefined) return;
      left = within({ width: innerWidth, height: innerHeight }, box, wanted);
      setSpot(left);
    },
    [element],
  );
  // Keeps the window on the page when the window grows or the page shrinks.
  useLayoutEffect(() => {
    const look = () => left && !off && move(left);
    look();
    addEventListener('resize', look);
    const grown =
      element.current && typeof ResizeObserver === 'function' ? new ResizeObserver(look) : undefined;
    if (element.current) grown?.observe(element.current);
    return () => {
      removeEventListener('resize', look);
      grown?.disconnect();
    };
  }, [off, element, move]);
  return {
    spot: off ? undefined : spot,
    onPointerDown(event) {
      const box = element.current?.getBoundingClientRect();
      const pressed = event.target as HTMLElement;
      if (off || box === undefined || event.button !== 0 || pressed.closest('button, select, label')) return;
      const grip = event.currentTarget as HTMLElement;
      const from = { x: event.clientX - box.left, y: event.clientY - box.top };
      grip.setPointerCapture(event.pointerId);
      const onMove = (moved: PointerEvent) =>
        move({ left: moved.clientX - from.x, top: moved.clientY - from.y });
      const onUp = () => {
        grip.removeEventListener('pointermove', onMove);
        grip.removeEventListener('pointerup', onUp);
        grip.removeEventListener('pointercancel', onUp);
      };
      grip.addEventListener('pointermove', onMove);
      grip.addEventListener('pointerup', onUp);
      grip.addEventListener('pointercancel', onUp);
    },
    onKeyDown(event) {
      const box = element.current?.getBoundingClientRect();
      const next = box && stepped(box, event.key);
      if (off || next === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(next);
    },
  };
}
