// A list without rows: because nothing is there, or not yet.

import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icon/icon.tsx';
import { useWording } from '../surroundings.tsx';

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

/** Grey rows while the first page is on its way. */
export function Skeleton() {
  const words = useWording();
  return (
    <div class="skeleton" role="img" aria-label={words.loading}>
      {Array.from({ length: 7 }, (_, i) => (
        <div key={i} class="skeleton-row">
          <span class="skeleton-circle" />
          <span class="skeleton-lines">
            <span class="skeleton-line" />
            <span class="skeleton-line" />
          </span>
        </div>
      ))}
    </div>
  );
}
