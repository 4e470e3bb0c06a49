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
  markUnread: 'Als ungelesen markieren',
  tooManyPinned: 'Mehr Chats kannst du nicht anheften. Löse zuerst einen.',
  searchHere: 'In diesem Chat suchen',
  jumpToDate: 'Zu einem Datum springen',
  showDate: 'Zeigen',
  noMentions: 'Niemand hat dich erwähnt',
  noMentionsHint: 'Nachrichten mit @ und deinem Namen stehen hier, bis du sie liest.',
  noUnread: 'Alles gelesen',
  noUnreadHint: 'Neue Nachrichten erscheinen hier.',
  noArchived: 'Das Archiv ist leer',
  noArchivedHint: 'Archivierte Chats ruhen hier, bis etwas Neues kommt.',
});
