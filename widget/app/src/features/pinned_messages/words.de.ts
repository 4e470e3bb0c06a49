/** German. */

import type { PinWords } from './words.en.ts';

export const de = (): PinWords => ({
  jumpToUnread: 'Zur ersten ungelesenen Nachricht',
  markAllRead: 'Alle als gelesen markieren',
  showPinned: 'Angeheftete Nachricht zeigen',
  pinnedOf: (n, count) => (count === 1 ? 'Angeheftete Nachricht' : `Angeheftete Nachricht ${n} von ${count}`),
});
