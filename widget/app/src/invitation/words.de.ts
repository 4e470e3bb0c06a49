/** German. */

import type { Plural } from '../wording/wording.ts';
import type { InvitationWords } from './words.en.ts';

export const de = (plural: Plural): InvitationWords => ({
  linkHint: 'Wer den Link hat, kann beitreten, bis er endet oder du ihn zurücknimmst.',
  linkHolds: 'Er gilt',
  linkDays: n => plural(n, { one: '1 Tag', other: `${n} Tage` }),
  linkYear: 'Ein Jahr',
  linkFor: 'Er ist für',
  linkForAll: 'Alle',
  linkForPeople: n => plural(n, { one: '1 Person', other: `${n} Personen` }),
  linkMake: 'Link erstellen',
  linkMade: 'Der Link ist erstellt. Er gilt ab jetzt.',
  linksThatHold: 'Gültige Links',
  linksNone: 'Noch gibt es keinen Link.',
  link: 'Link',
  linkCopy: 'Link kopieren',
  linkCopied: 'Link kopiert',
  linkShare: 'Link teilen',
  linkBy: name => `Von ${name}`,
  linkUntil: when => `bis ${when}`,
  linkUsed: n =>
    n === 0
      ? 'noch niemand ist damit gekommen'
      : plural(n, { one: '1 Person ist damit gekommen', other: `${n} Personen sind damit gekommen` }),
  linkUsedOf: (n, all) => `${n} von ${all} sind damit gekommen`,
  linkTakeBack: 'Zurücknehmen',
  linkTakeBackAsk: 'Diesen Link zurücknehmen?',
  linkTakeBackExplain: 'Niemand tritt mehr damit bei. Wer damit gekommen ist, bleibt.',
  linkTakenBack: 'Der Link ist zurückgenommen',
  linkTooMany: 'Dieser Raum hat so viele Links, wie er haben darf. Nimm zuerst einen zurück.',
  linkNotAllowed: 'Hier erstellen nur Inhaber und Moderatoren Links.',
  invitation: 'Einladung',
  invitedBy: name => `${name} lädt dich ein`,
  invitedUntil: when => `Die Einladung gilt bis ${when}.`,
  notNow: 'Jetzt nicht',
  invitationOver: 'Diese Einladung gilt nicht mehr',
  invitationOverHint:
    'Sie ist abgelaufen, aufgebraucht oder zurückgenommen. Bitte die Person, von der du den Link hast, um einen neuen.',
  invitationOffline: 'Es gibt keine Verbindung. Öffne den Link später noch einmal.',
  invitationSignIn: 'Melde dich auf dieser Seite an: Die Einladung öffnet sich dann von selbst.',
  invitationOk: 'In Ordnung',
});
