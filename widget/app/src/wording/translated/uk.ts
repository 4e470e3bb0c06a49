/** Ukrainian: what the shell says. */

import type { Catalogue } from '../en.ts';
import type { Plural } from '../wording.ts';
import type { Translated } from './late_translation.ts';

export const words = (plural: Plural): Translated<Catalogue> => ({
  messenger: 'Месенджер',
  close: 'Закрити',
  expand: 'Відкрити на всю сторінку',
  collapse: 'Згорнути в куток',
  back: 'Назад до списку',
  more: 'Більше',
  chats: 'Чати',
  contacts: 'Контакти',
  me: 'Я',
  unread: n =>
    plural(n, {
      one: `${n} непрочитане повідомлення`,
      few: `${n} непрочитані повідомлення`,
      other: `${n} непрочитаних повідомлень`,
    }),
  mentions: n =>
    plural(n, { one: `${n} згадка про вас`, few: `${n} згадки про вас`, other: `${n} згадок про вас` }),
  requestsWaiting: n => plural(n, { one: `${n} запит`, few: `${n} запити`, other: `${n} запитів` }),
  searchAll: 'Пошук',
  filterAll: 'Усі',
  filterUnread: 'Непрочитані',
  filterRequests: 'Запити',
  filterMentions: 'Згадки',
  filterArchived: 'Архів',
  filters: 'Показати',
  chatList: 'Ваші чати',
  you: 'Ви',
  draft: 'Чернетка:',
  pinned: 'Закріплено',
  muted: 'Без звуку',
  guest: 'Гість',
  actionsFor: name => `Дії: ${name}`,
  noChats: 'Чатів поки немає',
  noChatsHint: 'Привітайтеся з кимось, хто зараз тут.',
  findPeople: 'Знайти людей',
  clearSearch: 'Очистити пошук',
  message: 'Повідомлення',
  loading: 'Завантаження…',
  loadFailed: 'Не вдалося завантажити.',
  tryAgain: 'Спробувати ще раз',
  online: 'У мережі',
  away: 'Немає на місці',
  busy: 'Не турбувати',
  invisible: 'Невидимка',
  offline: 'Не в мережі',
  unknown: 'Підключення…',
  lastSeen: when => `Востаннє ${when}`,
  typing: 'Пише…',
  areTyping: names =>
    names.length === 1
      ? `${names[0]} пише`
      : names.length === 2
        ? `${names[0]} та ${names[1]} пишуть`
        : 'Кілька людей пишуть',
  everybody: 'усі',
  startOfRoom: name => `Тут починається ${name}.`,
  messagesWith: name => `Повідомлення: ${name}`,
  startOfChat: name => `Тут починається ваш чат: ${name}.`,
  writeTo: name => `Повідомлення для ${name}`,
  send: 'Надіслати',
  newMessages: 'Нові повідомлення',
  jumpToNewest: 'До найновішого',
  jumpToNew: n =>
    plural(n, {
      one: `${n} нове повідомлення`,
      few: `${n} нові повідомлення`,
      other: `${n} нових повідомлень`,
    }),
  today: 'Сьогодні',
  yesterday: 'Учора',
  queued: 'Чекає на зв’язок',
  sending: 'Надсилається',
  sent: 'Надіслано',
  received: 'Доставлено',
  read: 'Прочитано',
  failed: 'Не надіслано',
  retry: 'Надіслати ще раз',
  discard: 'Відкинути',
  reply: 'Відповісти',
  replyingTo: name => `Відповідь: ${name}`,
  cancelReply: 'Скасувати відповідь',
  quoted: 'Попереднє повідомлення',
  said: name => `${name}: `,
  messageActions: 'Дії з повідомленням',
  editing: 'Змінити повідомлення',
  cancelEdit: 'Скасувати зміни',
  save: 'Зберегти',
  edited: 'змінено',
  editedAt: when => `Змінено: ${when}`,
  deletedMessage: 'Повідомлення видалено',
  showOriginal: 'Показати початкове повідомлення',
  notFound: 'Це повідомлення надто давнє.',
  react: 'Додати реакцію',
  reactions: 'Реакції',
  reactedBy: (reaction, n) =>
    plural(n, {
      one: `${reaction} від ${n} людини`,
      few: `${reaction} від ${n} людей`,
      other: `${reaction} від ${n} людей`,
    }),
  andMore: n => `ще ${n}`,
  changeRefused: {
    edit: 'Вашу зміну відхилено й скасовано.',
    delete: 'Не вдалося видалити.',
    react: 'Вашу реакцію відхилено.',
  },
  emoji: 'Емодзі',
  suggestions: n => plural(n, { one: `${n} підказка`, few: `${n} підказки`, other: `${n} підказок` }),
  bytesLeft: n =>
    plural(n, {
      one: `Залишився ${n} символ`,
      few: `Залишилося ${n} символи`,
      other: `Залишилося ${n} символів`,
    }),
  bytesOver: n =>
    plural(n, { one: `Зайвий ${n} символ`, few: `Зайві ${n} символи`, other: `Зайвих ${n} символів` }),
  cancel: 'Скасувати',
  connecting: 'Підключення…',
  somethingFailed: 'Не вийшло.',
  inRoom: (name, room) => `${name} у ${room}`,
  rooms: 'Кімнати',
  roomKinds: {
    public: 'Відкрита кімната',
    private: 'Закрита кімната',
    announcement: 'Оголошення',
  },
  announceMany: (n, name) =>
    plural(n, {
      one: `${name}: ${n} нове повідомлення`,
      few: `${name}: ${n} нові повідомлення`,
      other: `${name}: ${n} нових повідомлень`,
    }),
  announceChats: n =>
    plural(n, {
      one: `${n} нове повідомлення`,
      few: `${n} нові повідомлення`,
      other: `${n} нових повідомлень`,
    }),
  connectionLost: 'Зв’язок втрачено',
  connectionBack: 'Знову на зв’язку',
  now: 'зараз',
});

export const late = () => import('./uk_late.ts').then(one => one.late);
