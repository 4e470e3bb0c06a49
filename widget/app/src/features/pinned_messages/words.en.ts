/** English. */

export const en = () => ({
  jumpToUnread: 'Jump to the first unread message',
  markAllRead: 'Mark all as read',
  showPinned: 'Show the pinned message',
  pinnedOf: (n: number, count: number) =>
    count === 1 ? 'Pinned message' : `Pinned message ${n} of ${count}`,
});

export type PinWords = ReturnType<typeof en>;
