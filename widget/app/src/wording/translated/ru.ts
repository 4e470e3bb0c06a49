/** Russian: what the shell says. */

import type { Catalogue } from '../en.ts';
import type { Plural } from '../wording.ts';
import type { Translated } from './late_translation.ts';

export const words = (plural: Plural): Translated<Catalogue> => ({
  messenger: 'Мессенджер',
  close: 'Закрыть',
  expand: 'Открыть на всю страницу',
  collapse: 'Свернуть в угол',
  back: 'Назад к списку',
  more: 'Ещё',
  chats: 'Чаты',
  contacts: 'Контакты',
  me: 'Я',
  unread: n =>
    plural(n, {
      one: `${n} непрочитанное сообщение`,
      few: `${n} непрочитанных сообщения`,
      other: `${n} непрочитанных сообщений`,
    }),
  mentions: n =>
    plural(n, { one: `${n} упоминание о вас`, few: `${n} упоминания о вас`, other: `${n} упоминаний о вас` }),
  requestsWaiting: n => plural(n, { one: `${n} запрос`, few: `${n} запроса`, other: `${n} запросов` }),
  searchAll: 'Поиск',
  filterAll: 'Все',
  filterUnread: 'Непрочитанные',
  filterRequests: 'Запросы',
  filterMentions: 'Упоминания',
  filterArchived: 'Архив',
  filters: 'Показать',
  chatList: 'Ваши чаты',
  you: 'Вы',
  draft: 'Черновик:',
  pinned: 'Закреплён',
  muted: 'Без звука',
  guest: 'Гость',
  actionsFor: name => `Действия: ${name}`,
  noChats: 'Чатов пока нет',
  noChatsHint: 'Поздоровайтесь с кем-нибудь, кто сейчас здесь.',
  findPeople: 'Найти людей',
  clearSearch: 'Очистить поиск',
  message: 'Сообщение',
  loading: 'Загрузка…',
  loadFailed: 'Не удалось загрузить.',
  tryAgain: 'Повторить',
  online: 'В сети',
  away: 'Нет на месте',
  busy: 'Не беспокоить',
  invisible: 'Невидимка',
  offline: 'Не в сети',
  unknown: 'Подключение…',
  lastSeen: when => `Был(а) ${when}`,
  typing: 'Печатает…',
  areTyping: names =>
    names.length === 1
      ? `${names[0]} печатает`
      : names.length === 2
        ? `${names[0]} и ${names[1]} печатают`
        : 'Несколько человек печатают',
  everybody: 'все',
  startOfRoom: name => `Здесь начинается ${name}.`,
  messagesWith: name => `Сообщения: ${name}`,
  startOfChat: name => `Здесь начинается ваш чат: ${name}.`,
  writeTo: name => `Сообщение для ${name}`,
  send: 'Отправить',
  newMessages: 'Новые сообщения',
  jumpToNewest: 'К последнему',
  jumpToNew: n =>
    plural(n, { one: `${n} новое сообщение`, few: `${n} новых сообщения`, other: `${n} новых сообщений` }),
  today: 'Сегодня',
  yesterday: 'Вчера',
  queued: 'Ожидает подключения',
  sending: 'Отправляется',
  sent: 'Отправлено',
  received: 'Доставлено',
  read: 'Прочитано',
  failed: 'Не отправлено',
  retry: 'Отправить снова',
  discard: 'Удалить',
  reply: 'Ответить',
  replyingTo: name => `Ответ: ${name}`,
  cancelReply: 'Отменить ответ',
  quoted: 'Предыдущее сообщение',
  said: name => `${name}: `,
  messageActions: 'Действия с сообщением',
  editing: 'Изменить сообщение',
  cancelEdit: 'Отменить изменение',
  save: 'Сохранить',
  edited: 'изменено',
  editedAt: when => `Изменено: ${when}`,
  deletedMessage: 'Сообщение удалено',
  showOriginal: 'Показать исходное сообщение',
  notFound: 'Это сообщение слишком давнее.',
  react: 'Добавить реакцию',
  reactions: 'Реакции',
  reactedBy: (reaction, n) =>
    plural(n, {
      one: `${reaction} от ${n} человека`,
      few: `${reaction} от ${n} человек`,
      other: `${reaction} от ${n} человек`,
    }),
  andMore: n => `ещё ${n}`,
  changeRefused: {
    edit: 'Ваше изменение отклонено и отменено.',
    delete: 'Не удалось удалить.',
    react: 'Ваша реакция отклонена.',
  },
  emoji: 'Эмодзи',
  suggestions: n => plural(n, { one: `${n} подсказка`, few: `${n} подсказки`, other: `${n} подсказок` }),
  bytesLeft: n =>
    plural(n, { one: `Остался ${n} символ`, few: `Осталось ${n} символа`, other: `Осталось ${n} символов` }),
  bytesOver: n =>
    plural(n, { one: `Лишний ${n} символ`, few: `Лишние ${n} символа`, other: `Лишних ${n} символов` }),
  cancel: 'Отмена',
  connecting: 'Подключение…',
  somethingFailed: 'Не получилось.',
  inRoom: (name, room) => `${name} в ${room}`,
  rooms: 'Комнаты',
  roomKinds: {
    public: 'Открытая комната',
    private: 'Закрытая комната',
    announcement: 'Объявления',
  },
  announceMany: (n, name) =>
    plural(n, {
      one: `${name}: ${n} новое сообщение`,
      few: `${name}: ${n} новых сообщения`,
      other: `${name}: ${n} новых сообщений`,
    }),
  announceChats: n =>
    plural(n, { one: `${n} новое сообщение`, few: `${n} новых сообщения`, other: `${n} новых сообщений` }),
  connectionLost: 'Связь потеряна',
  connectionBack: 'Снова на связи',
  now: 'сейчас',
});

export const late = () => import('./ru_late.ts').then(one => one.late);
