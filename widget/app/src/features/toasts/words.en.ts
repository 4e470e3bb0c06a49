/** English. */

export const en = () => ({
  messageFrom: (name: string) => `New message from ${name}`,
  dismiss: 'Dismiss',
});

export type NoticeWords = ReturnType<typeof en>;
