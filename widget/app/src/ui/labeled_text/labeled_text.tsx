// A user's text in one line after a label. The text has its own writing direction.

import type { ComponentChildren } from 'preact';

interface Props {
  class: string;
  /** The label before the text, in the widget's direction. */
  label?: ComponentChildren;
  children: ComponentChildren;
}

/** The label does not affect the direction of the text. The ellipsis is at the text's own end. */
export function LabeledText({ class: name, label, children }: Props) {
  return (
    <span class={`said ${name}`}>
      {label && <span class="said-label clip">{label}</span>}
      <span class="clip" dir="auto">
        {children}
      </span>
    </span>
  );
}
