/** English. */

export const en = () => ({
  pin: 'Pin to the top',
  unpin: 'Unpin',
  muteHour: 'Mute for 1 hour',
  muteEight: 'Mute for 8 hours',
  muteForGood: 'Mute for good',
  unmute: 'Unmute',
  archive: 'Archive',
  unarchive: 'Move back to chats',
  markRead: 'Mark as read',
});

export type ChatWords = ReturnType<typeof en>;
