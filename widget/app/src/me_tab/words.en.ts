/** English. */

export const en = () => ({
  presence: 'Your status',
  presenceHint: {
    online: 'Everybody sees that you are here',
    away: 'Shown as away',
    busy: 'Shown as do not disturb',
    invisible: 'Others see you as offline',
  },
  appearance: 'Appearance',
  themeAuto: 'Automatic',
  themeLight: 'Light',
  themeDark: 'Dark',
  layout: 'Open chats',
  layoutBubble: 'One at a time',
  layoutBar: 'Side by side',
  notifications: 'Notifications',
  sound: 'Sound',
  soundHint: 'For new messages, but not on “Do not disturb”',
  nameFromSite: 'Your name and picture come from this site.',
  moderation: 'Moderation',
  moderationHint: 'Reports, and what was done about them',
});

export type MeWords = ReturnType<typeof en>;
