/** English. */

export const en = () => ({
  copy: 'Copy text',
  copied: 'Copied',
  edit: 'Edit',
  quickReactions: 'React',
  notAllowed: 'You cannot write to this person.',
  tooLong: 'This message is too long.',
  serverBusy: 'The server cannot save messages right now.',
  deleteAsk: 'Delete this message?',
  deleteExplain: 'It disappears for everybody. This cannot be undone.',
  delete: 'Delete',
  report: 'Report',
  firstContact: 'No links and files until they have answered.',
  requestPending: 'Not sent. Wait until they answer.',
  tooManyRequests: 'You have written to many new people today. Try again tomorrow.',
  siteReadOnly: 'Only moderators may write here for now.',
  pinMessage: 'Pin for all',
  unpinMessage: 'Unpin',
  filtered: 'A word or a link in it is not wanted on this site.',
});

export type MessageWords = ReturnType<typeof en>;
