/** English. */

export const en = () => ({
  copy: 'Copy text',
  copied: 'Copied',
  edit: 'Edit',
  quickReactions: 'React',
  notAllowed: 'You cannot message this person.',
  tooLong: 'This message is too long.',
  serverBusy: 'The server cannot save messages right now.',
  deleteAsk: 'Delete this message?',
  deleteExplain: 'It is deleted for everyone. This cannot be undone.',
  delete: 'Delete',
  report: 'Report',
  firstContact: 'You cannot send links or files until they accept your request.',
  requestPending: 'Not sent. Wait until they accept your request.',
  tooManyRequests: 'You have messaged too many new people today. Try again tomorrow.',
  siteReadOnly: 'Only moderators can write for now.',
  pinMessage: 'Pin for everyone',
  unpinMessage: 'Unpin',
  filtered: 'It contains a word or link that this site does not allow.',
  seenBy: 'Seen by',
  deliveredTo: 'Delivered to',
  seenByNobody: 'Nobody yet',
  seenByHint: 'Members who hide when they are online are not listed.',
});

export type MessageWords = ReturnType<typeof en>;
