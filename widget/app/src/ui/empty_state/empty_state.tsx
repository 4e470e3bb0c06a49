// The placeholder of a list without rows, or of a pane without a selection.

import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icon/icon.tsx';
import { useStyles } from '../styles/use_styles.ts';
import css from './empty_state.css?inline';

interface EmptyProps {
  icon?: IconName;
  title?: string;
  hint: string;
  children?: ComponentChildren;
}

export function Empty({ icon, title, hint, children }: EmptyProps) {
  useStyles(css);
  return (
    <div class="empty">
      {icon && (
        <span class="empty-picture">
          <Icon name={icon} />
        </span>
      )}
      {title && <h3>{title}</h3>}
      <p dir="auto">{hint}</p>
      {children}
    </div>
  );
}
