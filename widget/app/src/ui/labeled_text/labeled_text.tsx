// A person's words in one line: our label, and their text in its own direction.

import type { ComponentChildren } from 'preact';

interface Props {
  class: string;
  /** Stands before the text, in the direction of the widget. */
  label?: ComponentChildren;
  children: ComponentChildren;
}

/** The label never decides the direction of the text, and an ellipsis stands where the text ends. */
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
