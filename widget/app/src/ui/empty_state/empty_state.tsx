// A list without rows.

import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icon/icon.tsx';

interface EmptyProps {
  icon: IconName;
  title: string;
  hint: string;
  children?: ComponentChildren;
}

export function Empty({ icon, title, hint, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-picture">
        <Icon name={icon} />
      </span>
      <h3>{title}</h3>
      <p dir="auto">{hint}</p>
      {children}
    </div>
  );
}
