/** German. */

import type { BannerWords } from './words.en.ts';

export const de = (): BannerWords => ({
  offlineBanner: 'Keine Verbindung. Nachrichten gehen raus, sobald du wieder da bist.',
  signedOut: 'Du bist abgemeldet.',
  signedOutHint: 'Melde dich auf dieser Seite an, um zu chatten.',
  replaced: 'Der Messenger ist woanders geöffnet.',
  useHere: 'Hier verwenden',
  banned: until => (until ? `Du bist hier gesperrt bis ${until}.` : 'Du bist hier gesperrt.'),
  siteClosed: 'Diese Seite hat ihren Messenger gerade geschlossen.',
  refused: 'Der Messenger ist hier nicht verfügbar.',
  newVersion: 'Eine neue Version ist verfügbar. Dein Entwurf bleibt erhalten.',
  reload: 'Neu laden',
});
