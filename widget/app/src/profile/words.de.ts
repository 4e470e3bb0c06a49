/** German. */

import type { Plural } from '../wording/wording.ts';
import type { ProfileWords } from './words.en.ts';

export const de = (plural: Plural): ProfileWords => ({
  profile: 'Profil',
  yourProfile: 'Dein Profil',
  siteRoles: { moderator: 'Moderation', admin: 'Administration' },
  statusUntil: when => `bis ${when}`,
  profileGone: 'Dieses Profil kann nicht gezeigt werden.',

  account: 'Konto',
  status: 'Status',
  statusHint: 'Was du gerade machst, für alle, die dein Profil öffnen',
  statusNone: 'Status setzen',
  statusPlaceholder: '🌴 Im Urlaub',
  statusEnds: 'Verschwindet',
  ends: {
    never: 'Nie',
    hour: 'In einer Stunde',
    fourHours: 'In vier Stunden',
    today: 'Heute um Mitternacht',
    week: 'In einer Woche',
  },
  endsAsNow: when => `Wie jetzt: ${when}`,
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
  mayWriteHint: 'Chats, die es gibt, gehen weiter; blockiere jemanden, um einen zu beenden.',
  seePresence: 'Wer sieht, dass du da bist',
  seeLastSeen: 'Wer sieht, wann du zuletzt da warst',
  seeLastSeenHint: 'Wer nicht sehen darf, dass du da bist, sieht auch das nicht.',
  audiences: { everybody: 'Alle', contacts: 'Meine Kontakte', nobody: 'Niemand' },
  nobodyNew: 'Niemand Neues',
  invisibleToo: 'Um nur gerade nicht gesehen zu werden, wähle „Unsichtbar“ als Status.',

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
  yourDataHint: 'Eine Kopie davon, oder ihr Ende',
  yourDataCopy: 'Eine Kopie von allem über dich',
  copyTitle: 'Eine Kopie deiner Daten',
  copyHint:
    'Dein Profil, deine Kontakte, deine direkten Chats und was du in Räumen geschrieben hast, als eine Datei aus JSON-Zeilen. Dateien, die du geschickt hast, sind genannt, nicht enthalten.',
  copySave: 'Kopie speichern',
  copyLines: (n, number) => plural(n, { one: '1 Zeile bis jetzt', other: `${number} Zeilen bis jetzt` }),
  copyDone: 'Deine Kopie ist gespeichert.',
  removeTitle: 'Mein Konto entfernen',
  removeHint: 'Dein Name, dein Bild, deine Kontakte und Räume gehen, und du bist überall abgemeldet.',
  removeMessages: 'Auch alles löschen, was ich geschrieben habe',
  removeAsk: 'Dein Konto entfernen?',
  removeExplain: 'Es gibt kein Zurück. Was du geschrieben hast, bleibt, ohne deinen Namen.',
  removeExplainAll: 'Es gibt kein Zurück. Was du geschrieben hast, wird für alle gelöscht.',

  unblockOne: name => `${name} nicht mehr blockieren`,
});
