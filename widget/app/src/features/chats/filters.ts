// The filters of the chat list.

import type { Totals } from '@kith/client';
import type { Part } from '../../ui/lazy/lazy.tsx';
import type { Wording } from '../../wording/wording.ts';

export interface Filter {
  /** One of the client's lists (`ListName`). A filter with `part` may have any name. */
  value: string;
  text(words: Wording): string;
  /** The filter is visible only if this returns true. Without this function it is always visible. */
  shown?(totals: Totals): boolean;
  /** This component replaces the list. */
  part?: Part<object>;
}

export const FILTERS: readonly Filter[] = [
  { value: 'main', text: words => words.filterAll },
  { value: 'unread', text: words => words.filterUnread },
  { value: 'mentions', text: words => words.filterMentions },
  { value: 'requests', text: words => words.filterRequests, shown: totals => totals.strangers > 0 },
  { value: 'archived', text: words => words.filterArchived },
];
