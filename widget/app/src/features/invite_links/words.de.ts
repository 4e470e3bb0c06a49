/** German. */

import type { Plural } from '../../wording/wording.ts';
import type { InvitationWords } from './words.en.ts';

export const de = (plural: Plural): InvitationWords => ({
  linkHint: 'Wer den Link hat, kann beitreten, bis er abläuft oder du ihn widerrufst.',
  linkExpiresAfter: 'Läuft ab nach',
  linkDays: n => plural(n, { one: '1 Tag', other: `${n} Tage` }),
  linkYear: 'Ein Jahr',
  linkFor: 'Höchstens nutzbar von',
  linkForAll: 'Unbegrenzt',
  linkForPeople: n => plural(n, { one: '1 Person', other: `${n} Personen` }),
  linkMake: 'Link erstellen',
  linkMade: 'Link erstellt.',
  activeLinks: 'Aktive Links',
  linksNone: 'Keine aktiven Links.',
  link: 'Link',
  linkCopy: 'Link kopieren',
  linkCopied: 'Link kopiert',
  linkShare: 'Link teilen',
  linkBy: name => `Erstellt von ${name}`,
  linkUntil: when => `bis ${when}`,
  linkUsed: n =>
    n === 0
      ? 'noch nicht benutzt'
      : plural(n, { one: '1 Person ist beigetreten', other: `${n} Personen sind beigetreten` }),
  linkUsedOf: (n, all) => `${n} von ${all} sind beigetreten`,
  linkRevoke: 'Widerrufen',
  linkRevokeAsk: 'Diesen Link widerrufen?',
  linkRevokeExplain: 'Niemand kann mehr damit beitreten. Wer schon beigetreten ist, bleibt.',
  linkRevoked: 'Link widerrufen',
  linkTooMany: 'Dieser Raum hat die Höchstzahl an Links erreicht. Widerrufe zuerst einen.',
  linkNotAllowed: 'Hier können nur Inhaber und Moderatoren Links erstellen.',
  invitation: 'Einladung',
  invitedBy: name => `${name} lädt dich ein`,
  invitedUntil: when => `Die Einladung gilt bis ${when}.`,
  notNow: 'Jetzt nicht',
  invitationOver: 'Diese Einladung gilt nicht mehr',
  invitationOverHint: 'Sie ist abgelaufen, aufgebraucht oder widerrufen. Bitte um einen neuen Link.',
  invitationOffline: 'Du bist offline. Öffne den Link später noch einmal.',
  invitationSignIn: 'Melde dich auf dieser Seite an, um die Einladung zu öffnen.',
  invitationOk: 'In Ordnung',
});
