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
});

export type MessageWords = ReturnType<typeof en>;
