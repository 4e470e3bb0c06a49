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
  markUnread: 'Mark as unread',
  tooManyPinned: 'You have pinned as many chats as you may. Unpin one first.',
  searchHere: 'Search in this chat',
  noMentions: 'Nobody has mentioned you',
  noMentionsHint: 'Messages with @ and your name show up here until you read them.',
  noUnread: 'You are all caught up',
  noUnreadHint: 'New messages will show up here.',
  noArchived: 'Nothing archived',
  noArchivedHint: 'Archived chats rest here until something new arrives.',
});

export type ChatWords = ReturnType<typeof en>;
