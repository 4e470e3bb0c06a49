// The placeholder of a list that is not loaded yet.

import { useWording } from '../../app_context.tsx';

/** Grey rows, shown while the first page loads. */
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
