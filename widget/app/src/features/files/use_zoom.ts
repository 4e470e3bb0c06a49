// Zooms a picture by wheel, fingers, double click, keys and buttons, and moves it by dragging.

import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { inside, moved, type Point, WHOLE, type Zoom, zoomed } from './zoom.ts';

const STEP = 1.5;
const DOUBLE_CLICK = 2.5;
/** Zoom per pixel of the wheel. One notch of a wheel is 100 to 120 pixels in most browsers. */
const PER_PIXEL = 0.002;
/** Pixels by which an arrow key moves the picture. */
const ARROW = 60;
/** A pointer that moves fewer pixels is a click. */
const DRAGS = 4;

/** `of`: the id of the picture. Another picture resets the zoom. */
export function useZoom(of: string | undefined) {
  const place = useRef<HTMLElement>(null);
  const [zoom, setZoom] = useState<Zoom>(WHOLE);
  const dragged = useRef(false);

  const change = useCallback((next: (zoom: Zoom) => Zoom) => {
    const picture = place.current?.querySelector<HTMLElement>('.picture');
    const element = place.current;
    if (!picture || !element) return;
    const size = { x: picture.offsetWidth, y: picture.offsetHeight };
    setZoom(old => inside(next(old), size, { x: element.clientWidth, y: element.clientHeight }));
  }, []);
  const step = useCallback((factor: number, at?: Point) => change(old => zoomed(old, factor, at)), [change]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another picture resets the zoom
  useLayoutEffect(() => setZoom(WHOLE), [of]);

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const pointers = new Map<number, Point>();
    const fromMiddle = ({ x, y }: Point): Point => {
      const box = element.getBoundingClientRect();
      return { x: x - box.left - box.width / 2, y: y - box.top - box.height / 2 };
    };
    // Preact adds passive wheel listeners, and the page would scroll or zoom.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 40 : 1);
      // A pinch on a touchpad arrives as a wheel event with `ctrlKey` and small steps.
      step(Math.exp(-pixels * PER_PIXEL * (event.ctrlKey ? 5 : 1)), fromMiddle(event));
    };
    const onDown = (event: PointerEvent) => {
      if ((event.target as Element).closest('button, a')) return;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (pointers.size === 1) dragged.current = false;
    };
    const onMove = (event: PointerEvent) => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return;
      const now = { x: event.clientX, y: event.clientY };
      const by = { x: now.x - before.x, y: now.y - before.y };
      if (!dragged.current && Math.hypot(by.x, by.y) < DRAGS) return;
      dragged.current = true;
      pointers.set(event.pointerId, now);
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other === undefined) return change(old => moved(old, by));
      const apart = (one: Point) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
      step(apart(now) / apart(before), fromMiddle({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }));
    };
    const onUp = (event: PointerEvent) => pointers.delete(event.pointerId);
    const onDouble = (event: MouseEvent) =>
      change(old => (old.scale > 1 ? WHOLE : zoomed(old, DOUBLE_CLICK, fromMiddle(event))));
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('dblclick', onDouble);
    // The pointer may leave the element during a drag.
    addEventListener('pointermove', onMove);
    addEventListener('pointerup', onUp);
    addEventListener('pointercancel', onUp);
    return () => {
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('dblclick', onDouble);
      removeEventListener('pointermove', onMove);
      removeEventListener('pointerup', onUp);
      removeEventListener('pointercancel', onUp);
    };
  }, [change, step]);

  /** Returns true if the zoom has handled the key. */
  const onKey = (key: string): boolean => {
    if (key === '+' || key === '=') step(STEP);
    else if (key === '-') step(1 / STEP);
    else if (key === '0') change(() => WHOLE);
    else if (zoom.scale > 1 && key in ARROWS) change(old => moved(old, ARROWS[key] as Point));
    else return false;
    return true;
  };
  return {
    place,
    zoom,
    /** True after a drag: the click that ends it must be ignored. */
    dragged,
    larger: () => step(STEP),
    smaller: () => step(1 / STEP),
    onKey,
  };
}

/** An arrow key shows more of its side. */
const ARROWS: Record<string, Point> = {
  ArrowLeft: { x: ARROW, y: 0 },
  ArrowRight: { x: -ARROW, y: 0 },
  ArrowUp: { x: 0, y: ARROW },
  ArrowDown: { x: 0, y: -ARROW },
};
