// The unread number on the page itself: in its title, and as a dot on its icon. Fetched once something is unread.

import { createIconDot } from './icon_dot.ts';
import { createTitleCounter } from './title_counter.ts';

export interface PageBadge {
  /** With 0 the page has its own title and icon back. */
  set(unread: number): void;
}

export function createPageBadge(page: Document, withDot: boolean): PageBadge {
  const title = createTitleCounter(page);
  const icon = createIconDot(page);
  return {
    set(unread) {
      title.set(unread);
      if (withDot) icon.set(unread > 0);
    },
  };
}
