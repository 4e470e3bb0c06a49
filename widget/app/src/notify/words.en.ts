/** English. */

import type { Plural } from '../wording/wording.ts';

export const en = (plural: Plural) => ({
  notifyHere: 'Notify me in this browser',
  notifyHint: 'Also while this site is closed',
  notifyBlocked: 'Your browser blocks notifications of this site. You can allow them in its settings.',
  notifyUnsupported: 'This browser cannot show notifications.',
  notifyFailed: {
    blocked: 'Your browser did not allow it.',
    worker: 'This site is not set up for notifications yet.',
    server: 'The server sends no notifications now.',
    browser: 'Your browser could not set it up. Try again later.',
    offline: 'That did not work. Try again when you are connected.',
  },
  notifyBodies: 'Show what was written',
  notifyBodiesHint: 'Otherwise only who has written',
  quietHours: 'Quiet hours',
  quietHint: 'No notifications in this time',
  quietFrom: 'From',
  quietTo: 'Until',
  mail: 'E-mail what I miss',
  mailHint: (address: string) => `To ${address}, at most once a day`,
  mailNever: 'Never',
  mailMinutes: (n: number) => plural(n, { one: 'After a minute', other: `After ${n} minutes` }),
  mailHours: (n: number) => plural(n, { one: 'After an hour', other: `After ${n} hours` }),
});

export type NotifyWords = ReturnType<typeof en>;
