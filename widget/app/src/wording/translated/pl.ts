/** Polish: what the shell says. */

import type { Catalogue } from '../en.ts';
import type { Plural } from '../wording.ts';
import type { Translated } from './late_translation.ts';

export const words = (plural: Plural): Translated<Catalogue> => ({
  messenger: 'Komunikator',
  close: 'Zamknij',
  expand: 'Otwórz na całej stronie',
  collapse: 'Wróć do rogu',
  back: 'Wróć do listy',
  more: 'Więcej',
  chats: 'Czaty',
  contacts: 'Kontakty',
  me: 'Ja',
  unread: n =>
    plural(n, {
      one: '1 nieprzeczytana wiadomość',
      few: `${n} nieprzeczytane wiadomości`,
      other: `${n} nieprzeczytanych wiadomości`,
    }),
  mentions: n =>
    plural(n, { one: '1 wzmianka o tobie', few: `${n} wzmianki o tobie`, other: `${n} wzmianek o tobie` }),
  requestsWaiting: n => plural(n, { one: '1 prośba', few: `${n} prośby`, other: `${n} próśb` }),
  searchAll: 'Szukaj',
  filterAll: 'Wszystkie',
  filterUnread: 'Nieprzeczytane',
  filterRequests: 'Prośby',
  filterMentions: 'Wzmianki',
  filterArchived: 'Archiwum',
  filters: 'Pokaż',
  chatList: 'Twoje czaty',
  you: 'Ty',
  draft: 'Szkic:',
  pinned: 'Przypięty',
  muted: 'Wyciszony',
  guest: 'Gość',
  actionsFor: name => `Działania: ${name}`,
  noChats: 'Nie ma jeszcze czatów',
  noChatsHint: 'Przywitaj się z kimś, kto tu teraz jest.',
  findPeople: 'Znajdź ludzi',
  clearSearch: 'Wyczyść wyszukiwanie',
  message: 'Wiadomość',
  loading: 'Wczytywanie…',
  loadFailed: 'Nie udało się wczytać.',
  tryAgain: 'Spróbuj ponownie',
  online: 'Dostępny',
  away: 'Zaraz wracam',
  busy: 'Nie przeszkadzać',
  invisible: 'Niewidoczny',
  offline: 'Niedostępny',
  unknown: 'Łączenie ponowne…',
  lastSeen: when => `Ostatnio: ${when}`,
  typing: 'Pisze…',
  areTyping: names =>
    names.length === 1
      ? `${names[0]} pisze`
      : names.length === 2
        ? `${names[0]} i ${names[1]} piszą`
        : 'Kilka osób pisze',
  everybody: 'wszyscy',
  startOfRoom: name => `Tu zaczyna się ${name}.`,
  messagesWith: name => `Wiadomości: ${name}`,
  startOfChat: name => `Tu zaczyna się czat: ty i ${name}.`,
  writeTo: name => `Napisz do: ${name}`,
  send: 'Wyślij',
  newMessages: 'Nowe wiadomości',
  jumpToNewest: 'Przejdź do najnowszej',
  jumpToNew: n =>
    plural(n, { one: '1 nowa wiadomość', few: `${n} nowe wiadomości`, other: `${n} nowych wiadomości` }),
  today: 'Dzisiaj',
  yesterday: 'Wczoraj',
  queued: 'Czeka na połączenie',
  sending: 'Wysyłanie',
  sent: 'Wysłano',
  received: 'Dostarczono',
  read: 'Przeczytano',
  failed: 'Nie wysłano',
  retry: 'Wyślij ponownie',
  discard: 'Odrzuć',
  reply: 'Odpowiedz',
  replyingTo: name => `Odpowiedź: ${name}`,
  cancelReply: 'Anuluj odpowiedź',
  quoted: 'Wcześniejsza wiadomość',
  said: name => `${name}: `,
  messageActions: 'Działania na wiadomości',
  editing: 'Edytuj wiadomość',
  cancelEdit: 'Anuluj edycję',
  save: 'Zapisz',
  edited: 'edytowano',
  editedAt: when => `Edytowano: ${when}`,
  deletedMessage: 'Wiadomość usunięta',
  showOriginal: 'Pokaż pierwotną wiadomość',
  notFound: 'Ta wiadomość jest zbyt stara.',
  react: 'Dodaj reakcję',
  reactions: 'Reakcje',
  reactedBy: (reaction, n) =>
    plural(n, {
      one: `${reaction} od 1 osoby`,
      few: `${reaction} od ${n} osób`,
      other: `${reaction} od ${n} osób`,
    }),
  andMore: n => plural(n, { one: 'jeszcze 1', few: `jeszcze ${n}`, other: `jeszcze ${n}` }),
  changeRefused: {
    edit: 'Twoja zmiana została odrzucona i cofnięta.',
    delete: 'Nie udało się usunąć.',
    react: 'Twoja reakcja została odrzucona.',
  },
  emoji: 'Emoji',
  suggestions: n => plural(n, { one: '1 podpowiedź', few: `${n} podpowiedzi`, other: `${n} podpowiedzi` }),
  bytesLeft: n =>
    plural(n, { one: 'Został 1 znak', few: `Zostały ${n} znaki`, other: `Zostało ${n} znaków` }),
  bytesOver: n =>
    plural(n, { one: '1 znak za dużo', few: `${n} znaki za dużo`, other: `${n} znaków za dużo` }),
  cancel: 'Anuluj',
  connecting: 'Łączenie…',
  somethingFailed: 'To się nie udało.',
  inRoom: (name, room) => `${name} w: ${room}`,
  rooms: 'Pokoje',
  roomKinds: {
    public: 'Pokój otwarty',
    private: 'Pokój prywatny',
    announcement: 'Ogłoszenia',
  },
  announceMany: (n, name) =>
    plural(n, {
      one: `1 nowa wiadomość od: ${name}`,
      few: `${n} nowe wiadomości od: ${name}`,
      other: `${n} nowych wiadomości od: ${name}`,
    }),
  announceChats: n =>
    plural(n, { one: '1 nowa wiadomość', few: `${n} nowe wiadomości`, other: `${n} nowych wiadomości` }),
  connectionLost: 'Utracono połączenie',
  connectionBack: 'Połączono ponownie',
  now: 'teraz',
});

export const late = () => import('./pl_late.ts').then(one => one.late);
