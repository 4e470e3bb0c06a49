/** English: the catalogue that all other languages are held to by its type. */

import type { Plural } from './wording.ts';

export const en = (plural: Plural) => ({
  messenger: 'Messenger',
  close: 'Close',
  expand: 'Open as full page',
  collapse: 'Back to the corner',
  back: 'Back to the list',
  more: 'More',

  chats: 'Chats',
  contacts: 'Contacts',
  me: 'Me',
  unread: (n: number) => plural(n, { one: '1 unread message', other: `${n} unread messages` }),
  mentions: (n: number) => plural(n, { one: '1 mention of you', other: `${n} mentions of you` }),
  requestsWaiting: (n: number) => plural(n, { one: '1 request', other: `${n} requests` }),

  searchAll: 'Search',
  filterAll: 'All',
  filterUnread: 'Unread',
  filterRequests: 'Requests',
  filterMentions: 'Mentions',
  filterArchived: 'Archived',
  filters: 'Show',
  chatList: 'Your chats',
  you: 'You',
  draft: 'Draft:',
  pinned: 'Pinned',
  muted: 'Muted',
  guest: 'Guest',
  actionsFor: (name: string) => `Actions for ${name}`,

  noChats: 'No chats yet',
  noChatsHint: 'Start a chat with somebody who is online now.',
  findPeople: 'Find people',

  clearSearch: 'Clear search',
  message: 'Message',
  loading: 'Loading…',
  loadFailed: 'Could not load this.',
  tryAgain: 'Try again',

  online: 'Online',
  away: 'Away',
  busy: 'Do not disturb',
  invisible: 'Invisible',
  offline: 'Offline',
  unknown: 'Reconnecting…',
  lastSeen: (when: string) => `Last seen ${when}`,
  typing: 'Typing…',
  areTyping: (names: readonly string[]) =>
    names.length === 1
      ? `${names[0]} is typing`
      : names.length === 2
        ? `${names[0]} and ${names[1]} are typing`
        : 'Several people are typing',
  everybody: 'everyone',
  startOfRoom: (name: string) => `This is the start of ${name}.`,

  messagesWith: (name: string) => `Messages with ${name}`,
  startOfChat: (name: string) => `This is the start of your chat with ${name}.`,
  writeTo: (name: string) => `Message ${name}`,
  send: 'Send',
  newMessages: 'New messages',
  jumpToNewest: 'Jump to newest',
  jumpToNew: (n: number) => plural(n, { one: '1 new message', other: `${n} new messages` }),
  today: 'Today',
  yesterday: 'Yesterday',
  queued: 'Waiting for connection',
  sending: 'Sending',
  sent: 'Sent',
  received: 'Delivered',
  read: 'Read',
  failed: 'Not sent',
  retry: 'Retry',
  discard: 'Discard',
  reply: 'Reply',
  replyingTo: (name: string) => `Reply to ${name}`,
  cancelReply: 'Cancel reply',
  quoted: 'Earlier message',
  /** Before what a person said. */
  said: (name: string) => `${name}: `,
  messageActions: 'Message actions',
  editing: 'Edit message',
  cancelEdit: 'Cancel editing',
  save: 'Save',
  edited: 'edited',
  editedAt: (when: string) => `Edited ${when}`,
  deletedMessage: 'Message deleted',
  showOriginal: 'Show the original message',
  notFound: 'This message could not be found.',
  react: 'Add a reaction',
  reactions: 'Reactions',
  reactedBy: (reaction: string, n: number) =>
    plural(n, { one: `${reaction} from 1 person`, other: `${reaction} from ${n} people` }),
  andMore: (n: number) => plural(n, { one: '1 more', other: `${n} more` }),
  changeRefused: {
    edit: 'Your edit was not saved.',
    delete: 'Could not delete the message.',
    react: 'Could not add your reaction.',
  },
  emoji: 'Emoji',
  suggestions: (n: number) => plural(n, { one: '1 suggestion', other: `${n} suggestions` }),
  bytesLeft: (n: number) => plural(n, { one: '1 character left', other: `${n} characters left` }),
  bytesOver: (n: number) => plural(n, { one: '1 character too long', other: `${n} characters too long` }),

  cancel: 'Cancel',

  connecting: 'Connecting…',
  somethingFailed: 'Something went wrong. Try again.',

  inRoom: (name: string, room: string) => `${name} in ${room}`,
  rooms: 'Rooms',
  roomKinds: { public: 'Public room', private: 'Private room', announcement: 'Announcements' },
  announceMany: (n: number, name: string) =>
    plural(n, { one: `1 new message from ${name}`, other: `${n} new messages from ${name}` }),
  announceChats: (n: number) => plural(n, { one: '1 new message', other: `${n} new messages` }),
  connectionLost: 'Connection lost',
  connectionBack: 'Connected again',
  now: 'now',
});

export type Catalogue = ReturnType<typeof en>;
