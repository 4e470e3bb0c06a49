// A dialog that covers the panel, with a bar and a Back button. The focus stays in it until it is closed.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import barCss from '../header_bar/header_bar.css?inline';
import { Icon } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './sheet.css?inline';

interface Props {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

const FOCUSABLE = 'button:not([disabled]), input, textarea, select, [tabindex="0"]';

export function Sheet({ title, onClose, children }: Props) {
  useStyles(barCss);
  useStyles(css);
  const { wording: words, root } = useAppContext();
  const sheet = useRef<HTMLDivElement>(null);
  const back = useRef<HTMLButtonElement>(null);
  const from = useRef(root?.activeElement as HTMLElement | null | undefined);
  useLayoutEffect(() => back.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    const before = from.current;
    // The content below is no longer inert at this time, so it can take the focus.
    return () => before?.focus({ preventScroll: true });
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Tab') {
      const all = [...(sheet.current?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])];
      const active = (sheet.current?.getRootNode() as ShadowRoot | undefined)?.activeElement;
      const edge = event.shiftKey ? all[0] : all.at(-1);
      if (active !== edge) return;
      (event.shiftKey ? all.at(-1) : all[0])?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={sheet}
      class="sheet"
      role="dialog"
      aria-modal="true"
      aria-labelledby="sheet-title"
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <div class="bar chat-bar">
        <button
          ref={back}
          type="button"
          class="icon-button"
          aria-label={words.back}
          title={words.back}
          onClick={onClose}
        >
          <Icon name="back" />
        </button>
        <h2 class="chat-name grow" id="sheet-title">
          {title}
        </h2>
      </div>
      <div class="sheet-body">{children}</div>
    </div>
  );
}
