/** English. */

export const en = () => ({
  pin: 'Pin to top',
  unpin: 'Unpin',
  muteHour: 'Mute for 1 hour',
  muteEight: 'Mute for 8 hours',
  muteForGood: 'Mute until I turn it back on',
  unmute: 'Unmute',
  archive: 'Archive',
  unarchive: 'Unarchive',
  markRead: 'Mark as read',
  markUnread: 'Mark as unread',
  tooManyPinned: 'You have reached the maximum number of pinned chats. Unpin one first.',
  searchHere: 'Search in this chat',
  jumpToDate: 'Go to date',
  showDate: 'Show',
  noMentions: 'No mentions',
  noMentionsHint: 'Unread messages that mention you appear here.',
  noUnread: 'You are all caught up',
  noUnreadHint: 'New messages appear here.',
  noArchived: 'No archived chats',
  noArchivedHint: 'Archived chats stay here until a new message arrives.',
});

export type ChatWords = ReturnType<typeof en>;
