/** English. */

export const en = () => ({
  presence: 'Your status',
  presenceHint: {
    online: 'Others see you as online',
    away: 'Others see you as away',
    busy: 'Others see “Do not disturb”; no sounds',
    invisible: 'Others see you as offline',
  },
  appearance: 'Appearance',
  themeAuto: 'Automatic',
  themeLight: 'Light',
  themeDark: 'Dark',
  layout: 'Chat layout',
  layoutBubble: 'One at a time',
  layoutBar: 'Side by side',
  notifications: 'Notifications',
  sound: 'Sound',
  soundHint: 'For new messages, except in “Do not disturb”',
  nameFromSite: 'Your name and picture come from this site.',
  moderation: 'Moderation',
  moderationHint: 'Reports and moderation log',
});

export type MeWords = ReturnType<typeof en>;
