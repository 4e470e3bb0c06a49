/** German. */

import type { MeWords } from './words.en.ts';

export const de = (): MeWords => ({
  presence: 'Dein Status',
  presenceHint: {
    online: 'Alle sehen, dass du da bist',
    away: 'Als abwesend gezeigt',
    busy: 'Als „nicht stören“ gezeigt',
    invisible: 'Andere sehen dich offline',
  },
  appearance: 'Darstellung',
  themeAuto: 'Automatisch',
  themeLight: 'Hell',
  themeDark: 'Dunkel',
  layout: 'Offene Chats',
  layoutBubble: 'Einer',
  layoutBar: 'Nebeneinander',
  notifications: 'Benachrichtigungen',
  sound: 'Ton',
  soundHint: 'Bei neuen Nachrichten, außer bei „Bitte nicht stören“',
  nameFromSite: 'Name und Bild kommen von dieser Seite.',
  moderation: 'Moderation',
  moderationHint: 'Meldungen, und was daraus geworden ist',
});
