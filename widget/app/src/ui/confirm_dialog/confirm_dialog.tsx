// A dialog that asks for confirmation before a destructive action.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Question, useWording } from '../../app_context.tsx';
import { useStyles } from '../styles/use_styles.ts';
import danger from '../theme/danger.css?inline';
import css from './confirm_dialog.css?inline';

export function ConfirmDialog({ question, onClose }: { question: Question; onClose: () => void }) {
  useStyles(danger);
  useStyles(css);
  const words = useWording();
  const dialog = useRef<HTMLDivElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const yes = useRef(false);
  useLayoutEffect(() => {
    cancel.current?.focus();
    return () => {
      // The content below is no longer inert at this time, so it can take the focus.
      question.from?.focus({ preventScroll: true });
      if (yes.current) question.onYes();
    };
  }, [question]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      onClose();
    } else if (event.key === 'Tab') {
      const buttons = Array.from(dialog.current?.querySelectorAll('button') ?? []);
      const root = dialog.current?.getRootNode() as ShadowRoot | Document | undefined;
      buttons[root?.activeElement === buttons[0] ? 1 : 0]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="confirm-veil">
      <div
        ref={dialog}
        class="confirm"
        role="alertdialog"
        aria-modal="true"
        aria-labelledby="confirm-title"
        aria-describedby="confirm-text"
        tabIndex={-1}
        onKeyDown={onKeyDown}
      >
        <h2 id="confirm-title">{question.title}</h2>
        <p id="confirm-text">{question.text}</p>
        <div class="confirm-buttons">
          <button ref={cancel} type="button" class="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button
            type="button"
            class="button button-danger"
            onClick={() => {
              yes.current = true;
              onClose();
            }}
          >
            {question.action}
          </button>
        </div>
      </div>
    </div>
  );
}
