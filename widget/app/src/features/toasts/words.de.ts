/** German. */

import type { NoticeWords } from './words.en.ts';

export const de = (): NoticeWords => ({
  messageFrom: name => `Neue Nachricht von ${name}`,
  dismiss: 'Ausblenden',
});
