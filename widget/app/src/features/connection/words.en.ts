/** English. */

export const en = () => ({
  offlineBanner: 'You are offline. Messages will be sent when you reconnect.',
  signedOut: 'You are signed out.',
  signedOutHint: 'Sign in on this site to chat.',
  replaced: 'The messenger is open in another tab.',
  useHere: 'Use it here',
  banned: (until: string | undefined) =>
    until ? `You are banned from this site until ${until}.` : 'You are banned from this site.',
  siteClosed: 'The messenger is closed for now.',
  refused: 'The messenger is not available here.',
  newVersion: 'A new version is available. Your draft is kept.',
  reload: 'Reload',
});

export type BannerWords = ReturnType<typeof en>;
