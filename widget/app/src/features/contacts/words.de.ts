/** German. */

import type { Plural } from '../../wording/wording.ts';
import type { PeopleWords } from './words.en.ts';

export const de = (plural: Plural): PeopleWords => ({
  search: 'Leute suchen',
  requests: 'Anfragen',
  onlineNow: 'Gerade online',
  yourContacts: 'Deine Kontakte',
  allPeople: 'Alle Mitglieder',
  blockedPeople: 'Blockiert',
  profile: 'Profil',
  people: 'Leute',
  accept: 'Annehmen',
  decline: 'Ablehnen',
  block: 'Blockieren',
  unblock: 'Nicht mehr blockieren',
  addContact: 'Zu Kontakten hinzufügen',
  removeContact: 'Aus Kontakten entfernen',
  takeBack: 'Anfrage zurückziehen',
  requestSent: 'Anfrage gesendet',
  wantsContact: 'möchte in deine Kontakte',
  noContacts: 'Noch keine Kontakte',
  noContactsHint: 'Suche jemanden, um ihn hinzuzufügen.',
  nobodyFound: query => `Niemand gefunden für „${query}“`,
  nobodyFoundHint: 'Prüfe die Schreibweise oder versuche den Anfang des Namens.',
  strangerTitle: name => `${name} ist noch nicht in deinen Kontakten`,
  asksYou: name => `${name} möchte in deine Kontakte`,
  asksYouHint: 'Wenn du annimmst, könnt ihr euch schreiben.',
  askedThem: name => `Du hast ${name} gefragt. Nach dem Annehmen kannst du schreiben.`,
  blockedHint: name => `Du hast ${name} blockiert.`,
  blockAsk: name => `${name} blockieren?`,
  blockExplain:
    'Die Person kann dir nicht mehr schreiben und dich nicht mehr anrufen. Du verlässt private Räume, die nur ihr gehören; in anderen Räumen sind ihre Nachrichten eingeklappt. Sie erfährt es nicht.',
  blockedMessage: 'Nachricht von jemandem, den du blockiert hast',
  showBlocked: 'Nachricht anzeigen',
  results: n => plural(n, { one: '1 Person gefunden', other: `${n} Personen gefunden` }),
  hereNow: 'Gerade da',
  report: 'Melden',
});
