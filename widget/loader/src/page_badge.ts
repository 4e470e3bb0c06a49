// Shows the unread number in the page's title, and a dot on its icon. Fetched at the first unread message.

import { createIconDot } from './icon_dot.ts';
import { createTitleCounter } from './title_counter.ts';

export interface PageBadge {
  /** 0 restores the page's own title and icon. */
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
