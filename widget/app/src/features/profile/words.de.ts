/** German. */

import type { Plural } from '../../wording/wording.ts';
import type { ProfileWords } from './words.en.ts';

export const de = (plural: Plural): ProfileWords => ({
  profile: 'Profil',
  yourProfile: 'Dein Profil',
  siteRoles: { moderator: 'Moderation', admin: 'Administration' },
  statusUntil: when => `bis ${when}`,
  profileGone: 'Dieses Profil kann nicht gezeigt werden.',

  account: 'Konto',
  status: 'Status',
  statusHint: 'Alle, die dein Profil öffnen, sehen ihn',
  statusNone: 'Status setzen',
  statusPlaceholder: '🌴 Im Urlaub',
  statusEnds: 'Löschen nach',
  ends: {
    never: 'Nie',
    hour: '1 Stunde',
    fourHours: '4 Stunden',
    today: 'Heute',
    week: '1 Woche',
  },
  endsAsNow: when => `Beibehalten: ${when}`,
  clearStatus: 'Status entfernen',
  yourName: 'Dein Name',
  yourNameHint: 'Leer lassen für den Namen von dieser Seite.',
  saved: 'Gespeichert',
  profileFailed: {
    filtered: 'Ein Wort oder ein Link darin ist auf dieser Seite nicht erwünscht.',
    bad_value: 'Das ist zu lang oder enthält Zeichen, die nicht gezeigt werden können.',
    other: 'Das konnte nicht gespeichert werden. Versuche es mit Verbindung noch einmal.',
  },

  privacy: 'Privatsphäre',
  privacyHint: 'Wer dir schreiben und dich sehen darf',
  mayWrite: 'Wer einen Chat mit dir beginnen darf',
  mayWriteHint: 'Bestehende Chats gehen weiter. Blockiere eine Person, um einen Chat zu beenden.',
  seePresence: 'Wer sehen kann, ob du online bist',
  seeLastSeen: 'Wer sehen kann, wann du zuletzt online warst',
  seeLastSeenHint: 'Wer nicht sehen kann, ob du online bist, sieht auch das nicht.',
  audiences: { everybody: 'Alle', contacts: 'Meine Kontakte', nobody: 'Niemand' },
  nobodyNew: 'Niemand',
  invisibleToo: 'Um dich nur vorübergehend zu verbergen, wähle den Status „Unsichtbar“.',

  blocked: 'Blockiert',
  blockedCount: n => plural(n, { one: '1 Person', other: `${n} Personen` }),
  blockedNobody: 'Niemand ist blockiert',
  blockedHint: 'Nichts von ihnen erreicht dich. Sie erfahren es nicht.',
  devices: 'Geräte',
  devicesRow: 'Wo du angemeldet bist',
  devicesHint:
    'Ein Gerät, das du abmeldest, braucht eine neue Anmeldung auf dieser Seite. Kennst du eines davon nicht, ändere dort auch dein Passwort.',
  deviceName: (browser, system) =>
    browser && system ? `${browser} auf ${system}` : (browser ?? system ?? 'Ein Browser oder eine App'),
  thisDevice: 'Dieses Gerät',
  signOut: 'Abmelden',
  signOutOf: name => `${name} abmelden`,
  deviceIsOut: 'Das Gerät ist abgemeldet',

  yourData: 'Deine Daten',
  yourDataHint: 'Kopie herunterladen oder Konto löschen',
  yourDataCopy: 'Kopie deiner Daten herunterladen',
  copyTitle: 'Eine Kopie deiner Daten',
  copyHint:
    'Dein Profil, deine Kontakte, deine direkten Chats und was du in Räumen geschrieben hast, als eine Datei aus JSON-Zeilen. Gesendete Dateien sind aufgeführt, aber nicht enthalten.',
  copySave: 'Herunterladen',
  copyLines: (n, number) => plural(n, { one: '1 Zeile bis jetzt', other: `${number} Zeilen bis jetzt` }),
  copyDone: 'Deine Kopie ist gespeichert.',
  removeTitle: 'Mein Konto löschen',
  removeHint:
    'Dein Name, dein Bild, deine Kontakte und Raummitgliedschaften werden gelöscht. Du wirst überall abgemeldet.',
  removeMessages: 'Auch alle meine Nachrichten löschen',
  removeAsk: 'Dein Konto löschen?',
  removeExplain: 'Das kann nicht rückgängig gemacht werden. Deine Nachrichten bleiben ohne deinen Namen.',
  removeExplainAll: 'Das kann nicht rückgängig gemacht werden. Deine Nachrichten werden für alle gelöscht.',

  unblockOne: name => `${name} nicht mehr blockieren`,
});
