/** English. */

import type { Plural } from '../../wording/wording.ts';

export const en = (plural: Plural) => ({
  notifyHere: 'Notify me in this browser',
  notifyHint: 'Also when this site is closed',
  notifyBlocked: 'Your browser blocks notifications from this site. Allow them in the browser settings.',
  notifyUnsupported: 'This browser cannot show notifications.',
  notifyFailed: {
    blocked: 'Your browser blocked notifications.',
    worker: 'Notifications are not set up on this site yet.',
    server: 'The server cannot send notifications right now.',
    browser: 'Your browser could not turn notifications on. Try again later.',
    offline: 'You are offline. Try again when you are connected.',
  },
  notifyBodies: 'Show message text',
  notifyBodiesHint: 'If off, notifications show only the sender',
  quietHours: 'Quiet hours',
  quietHint: 'No notifications during these hours',
  quietFrom: 'From',
  quietTo: 'Until',
  mail: 'Email me about missed messages',
  mailHint: (address: string) => `To ${address}, at most once a day`,
  mailNever: 'Never',
  mailMinutes: (n: number) => plural(n, { one: 'After a minute', other: `After ${n} minutes` }),
  mailHours: (n: number) => plural(n, { one: 'After an hour', other: `After ${n} hours` }),
});

export type NotifyWords = ReturnType<typeof en>;
