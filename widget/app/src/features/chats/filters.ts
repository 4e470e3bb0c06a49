// Filters of the list of chats: one entry each.

import type { Totals } from '@kith/client';
import type { Part } from '../../ui/lazy/lazy.tsx';
import type { Wording } from '../../wording/wording.ts';

export interface Filter {
  /** One of the client's lists (`ListName`); where `part` takes the place of the list, any name. */
  value: string;
  text(words: Wording): string;
  /** Shown only while this says so. */
  shown?(totals: Totals): boolean;
  /** Drawn instead of the list. */
  part?: Part<object>;
}

export const FILTERS: readonly Filter[] = [
  { value: 'main', text: words => words.filterAll },
  { value: 'unread', text: words => words.filterUnread },
  { value: 'mentions', text: words => words.filterMentions },
  { value: 'requests', text: words => words.filterRequests, shown: totals => totals.strangers > 0 },
  { value: 'archived', text: words => words.filterArchived },
];
