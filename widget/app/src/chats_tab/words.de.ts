/** German. */

import type { ChatWords } from './words.en.ts';

export const de = (): ChatWords => ({
  pin: 'Oben anheften',
  unpin: 'Nicht mehr anheften',
  muteHour: '1 Stunde stumm',
  muteEight: '8 Stunden stumm',
  muteForGood: 'Dauerhaft stumm',
  unmute: 'Nicht mehr stumm',
  archive: 'Archivieren',
  unarchive: 'Zurück zu den Chats',
  markRead: 'Als gelesen markieren',
});
