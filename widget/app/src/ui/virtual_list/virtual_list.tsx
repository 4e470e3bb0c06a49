// A list of any length that renders only the visible rows.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Offsets } from './offsets.ts';

interface Props<Row> {
  label: string;
  rows: readonly Row[];
  keyOf(row: Row): string;
  heightOf(row: Row): number;
  /** Whether arrow keys stop at a row. The other rows are headings. */
  stopsAt?(row: Row): boolean;
  /** Set `tabIndex` and `data-stop` on the row's main control. */
  draw(row: Row, tabIndex: 0 | -1): ComponentChildren;
  onVisible?(rows: readonly Row[]): void;
  /** Called near the end of the list, so that the caller loads more rows. */
  onNearEnd?: (() => void) | undefined;
}

/** The number of rows to render above and below the viewport, so that scrolling shows no blank area. */
const SPARE = 6;

export function VirtualList<Row>(props: Props<Row>) {
  const { rows, keyOf, heightOf, stopsAt = () => true, draw, onVisible, onNearEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  const [activeKey, setActiveKey] = useState<string>();
  const focusNext = useRef<string>(undefined);
  const offsets = useMemo(() => new Offsets(rows.length, i => heightOf(rows[i] as Row)), [rows, heightOf]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const visible = offsets.visible(view.top, view.height);
  const first = Math.max(0, visible.first - SPARE);
  const end = Math.min(rows.length, visible.end + SPARE);
  const active = activeIndex(rows, keyOf, stopsAt, activeKey, visible.first);

  const shown = useRef('');
  useEffect(() => {
    const now = rows.slice(visible.first, visible.end);
    const keys = now.map(keyOf).join('\n');
    if (keys === shown.current) return;
    shown.current = keys;
    onVisible?.(now);
  });
  useEffect(() => {
    if (rows.length > 0 && end === rows.length) onNearEnd?.();
  }, [end, rows.length, onNearEnd]);
  useLayoutEffect(() => {
    const key = focusNext.current;
    if (key === undefined) return;
    focusNext.current = undefined;
    const row = Array.from(scroller.current?.querySelectorAll<HTMLElement>('[data-row]') ?? []);
    row
      .find(one => one.dataset.row === key)
      ?.querySelector<HTMLElement>('[data-stop]')
      ?.focus({ preventScroll: true });
  });

  const moveTo = (index: number) => {
    const element = scroller.current;
    const row = rows[index];
    if (element === null || row === undefined) return;
    element.scrollTop = offsets.reveal(index, element.scrollTop, element.clientHeight);
    focusNext.current = keyOf(row);
    setActiveKey(keyOf(row));
    setView({ top: element.scrollTop, height: element.clientHeight });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const stop = (event.target as HTMLElement).closest('[data-stop]');
    if (stop === null) return;
    const page = Math.max(1, visible.end - visible.first - 1);
    const wanted = {
      ArrowDown: [active + 1, 1],
      ArrowUp: [active - 1, -1],
      PageDown: [Math.min(active + page, rows.length - 1), -1],
      PageUp: [Math.max(active - page, 0), 1],
      Home: [0, 1],
      End: [rows.length - 1, -1],
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    const index = nearestStop(rows, stopsAt, wanted[0] as number, wanted[1] as number);
    if (index !== -1) moveTo(index);
  };

  const drawn: number[] = [];
  // Keep the active row when it scrolls out of view. Otherwise the page would get its focus.
  if (active !== -1 && active < first) drawn.push(active);
  for (let i = first; i < end; i++) drawn.push(i);
  if (active >= end) drawn.push(active);

  return (
    <div
      ref={scroller}
      class="virtual-list"
      onScroll={event =>
        setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
      }
      onKeyDown={onKeyDown}
    >
      <div
        class="virtual-list-rows"
        role="list"
        aria-label={props.label}
        style={{ height: `${offsets.total}px` }}
      >
        {drawn.map(i => {
          const row = rows[i] as Row;
          const key = keyOf(row);
          return (
            <div
              key={key}
              data-row={key}
              class="virtual-list-row"
              role="listitem"
              aria-setsize={rows.length}
              aria-posinset={i + 1}
              style={{ transform: `translateY(${offsets.start(i)}px)`, height: `${heightOf(row)}px` }}
              onFocusIn={() => setActiveKey(key)}
            >
              {draw(row, i === active ? 0 : -1)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The row that Tab reaches: the last used one, else the first visible one. */
function activeIndex<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  stopsAt: (row: Row) => boolean,
  activeKey: string | undefined,
  firstVisible: number,
): number {
  const known = activeKey === undefined ? -1 : rows.findIndex(row => keyOf(row) === activeKey);
  return known === -1 ? nearestStop(rows, stopsAt, firstVisible, 1) : known;
}

function nearestStop<Row>(
  rows: readonly Row[],
  stopsAt: (row: Row) => boolean,
  from: number,
  step: number,
): number {
  for (let i = from; i >= 0 && i < rows.length; i += step) if (stopsAt(rows[i] as Row)) return i;
  return -1;
}
