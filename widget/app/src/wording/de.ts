/** German. */

import type { Catalogue } from './en.ts';
import type { Plural } from './wording.ts';

export const de = (plural: Plural): Catalogue => ({
  messenger: 'Messenger',
  close: 'Schließen',
  expand: 'Als ganze Seite öffnen',
  collapse: 'Zurück in die Ecke',
  back: 'Zurück zur Liste',
  more: 'Mehr',

  chats: 'Chats',
  contacts: 'Kontakte',
  me: 'Ich',
  unread: n => plural(n, { one: '1 ungelesene Nachricht', other: `${n} ungelesene Nachrichten` }),
  mentions: n => plural(n, { one: '1 Erwähnung', other: `${n} Erwähnungen` }),
  requestsWaiting: n => plural(n, { one: '1 Anfrage', other: `${n} Anfragen` }),

  searchAll: 'Suchen',
  filterAll: 'Alle',
  filterUnread: 'Ungelesen',
  filterRequests: 'Anfragen',
  filterMentions: 'Erwähnungen',
  filterArchived: 'Archiv',
  filters: 'Zeigen',
  chatList: 'Deine Chats',
  you: 'Du',
  draft: 'Entwurf:',
  pinned: 'Angeheftet',
  muted: 'Stumm',
  guest: 'Gast',
  actionsFor: name => `Aktionen für ${name}`,

  noChats: 'Noch keine Chats',
  noChatsHint: 'Sag jemandem Hallo, der gerade da ist.',
  findPeople: 'Leute finden',

  clearSearch: 'Suche leeren',
  message: 'Nachricht',
  loading: 'Wird geladen …',
  loadFailed: 'Das konnte nicht geladen werden.',
  tryAgain: 'Nochmal versuchen',

  online: 'Online',
  away: 'Abwesend',
  busy: 'Bitte nicht stören',
  invisible: 'Unsichtbar',
  offline: 'Offline',
  unknown: 'Verbindet neu …',
  lastSeen: when => `Zuletzt da: ${when}`,
  typing: 'Schreibt …',
  areTyping: names =>
    names.length === 1
      ? `${names[0]} schreibt`
      : names.length === 2
        ? `${names[0]} und ${names[1]} schreiben`
        : 'Mehrere Leute schreiben',
  everybody: 'alle',
  startOfRoom: name => `Hier beginnt ${name}.`,

  messagesWith: name => `Nachrichten mit ${name}`,
  startOfChat: name => `Hier beginnt dein Chat mit ${name}.`,
  writeTo: name => `Nachricht an ${name}`,
  send: 'Senden',
  newMessages: 'Neue Nachrichten',
  jumpToNewest: 'Zur neuesten Nachricht',
  jumpToNew: n => plural(n, { one: '1 neue Nachricht', other: `${n} neue Nachrichten` }),
  today: 'Heute',
  yesterday: 'Gestern',
  queued: 'Wartet auf Verbindung',
  sending: 'Wird gesendet',
  sent: 'Gesendet',
  received: 'Angekommen',
  read: 'Gelesen',
  failed: 'Nicht gesendet',
  retry: 'Nochmal senden',
  discard: 'Verwerfen',
  reply: 'Antworten',
  replyingTo: name => `Antwort an ${name}`,
  cancelReply: 'Antwort abbrechen',
  quoted: 'Frühere Nachricht',
  said: name => `${name}: `,
  messageActions: 'Aktionen zur Nachricht',
  editing: 'Nachricht bearbeiten',
  cancelEdit: 'Bearbeiten abbrechen',
  save: 'Speichern',
  edited: 'bearbeitet',
  editedAt: when => `Bearbeitet: ${when}`,
  deletedMessage: 'Nachricht gelöscht',
  showOriginal: 'Ursprüngliche Nachricht zeigen',
  notFound: 'Diese Nachricht liegt zu weit zurück.',
  react: 'Reagieren',
  reactions: 'Reaktionen',
  reactedBy: (reaction, n) =>
    plural(n, { one: `${reaction} von 1 Person`, other: `${reaction} von ${n} Personen` }),
  andMore: n => plural(n, { one: '1 weitere Person', other: `${n} weitere` }),
  changeRefused: {
    edit: 'Deine Änderung wurde abgelehnt und ist zurückgenommen.',
    delete: 'Das konnte nicht gelöscht werden.',
    react: 'Deine Reaktion wurde abgelehnt.',
  },
  emoji: 'Emoji',
  suggestions: n => plural(n, { one: '1 Vorschlag', other: `${n} Vorschläge` }),
  bytesLeft: n => plural(n, { one: 'Noch 1 Zeichen', other: `Noch ${n} Zeichen` }),
  bytesOver: n => plural(n, { one: '1 Zeichen zu lang', other: `${n} Zeichen zu lang` }),

  cancel: 'Abbrechen',

  connecting: 'Verbindet …',
  somethingFailed: 'Das hat nicht geklappt.',

  inRoom: (name, room) => `${name} in ${room}`,
  rooms: 'Räume',
  roomKinds: { public: 'Offener Raum', private: 'Privater Raum', announcement: 'Ankündigungen' },
  announceMany: (n, name) =>
    plural(n, { one: `1 neue Nachricht von ${name}`, other: `${n} neue Nachrichten von ${name}` }),
  announceChats: n => plural(n, { one: '1 neue Nachricht', other: `${n} neue Nachrichten` }),
  connectionLost: 'Verbindung verloren',
  connectionBack: 'Wieder verbunden',
  now: 'jetzt',
});
