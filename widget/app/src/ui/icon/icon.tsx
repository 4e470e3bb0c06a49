/** Line icons as inline SVG, so that they need no request, no font and no id in the page. */

import type { CallIconName } from './call_shapes.ts';
import type { LazyIconName } from './lazy_shapes.ts';

const SHAPES = {
  chat: 'M20 11.5a7.5 7.5 0 0 1-11 6.6L4.5 19.5l1.4-4.4A7.5 7.5 0 1 1 20 11.5Z',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 9a6.5 6.5 0 0 1 13 0M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14a6.5 6.5 0 0 1 3.5 6',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8.5a7.5 7.5 0 0 1 15 0',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M15 5l-7 7 7 7',
  more: 'M12 5.5v.01M12 12v.01M12 18.5v.01',
  expand: 'M14 5h5v5M19 5l-6 6M10 19H5v-5M5 19l6-6',
  collapse: 'M19 10h-5V5M14 10l6-6M5 14h5v5M10 14l-6 6',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.3 15.3 20 20',
  send: 'M12 19V5M5.5 11.5 12 5l6.5 6.5',
  down: 'M12 5v14M5.5 12.5 12 19l6.5-6.5',
  pin: 'M9 4h6l-.7 6 3.2 3.5H6.5L9.7 10 9 4ZM12 13.5V20',
  muted: 'M6 16.5h12l-1.5-2.2V10a4.5 4.5 0 0 0-9 0v4.3L6 16.5ZM4 4l16 16',
  check: 'M5 12.5 10 17.5 19.5 7',
  retry: 'M19 12a7 7 0 1 1-2-5M19.5 4v4h-4',
  clock: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16ZM12 8v4.2l2.8 1.8',
  alert: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 8v4.5M12 16v.01',
  trash: 'M4.5 6.5h15M9 6.5V4h6v2.5M6.5 6.5l.8 13h9.4l.8-13',
  smile: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM8.5 14a4.2 4.2 0 0 0 7 0M9 9.5v.01M15 9.5v.01',
  rooms: 'M4.5 9h15M4.5 15h15M10 4 8 20M16 4l-2 16',
  lock: 'M6.5 11h11v8.5h-11zM9 11V8a3 3 0 0 1 6 0v3',
  megaphone: 'M4.5 10v4h3l8 4.5v-13L7.5 10h-3ZM18.5 9.5a3.5 3.5 0 0 1 0 5',
  tick: 'M4 12.5 8.5 17 18 7.5',
  ticks: 'M2 12.5 6.5 17 16 7.5M12.5 17 22 7.5',
} as const;

const shapes: Partial<Record<IconName, string>> = { ...SHAPES };

export type IconName = keyof typeof SHAPES | LazyIconName | CallIconName;

/** Adds the shapes of icons that only lazy parts show. They are in the bundles of these parts. */
export function addShapes(more: Partial<Record<IconName, string>>): void {
  Object.assign(shapes, more);
}

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}
