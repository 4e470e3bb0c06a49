/** German. */

import type { Plural } from '../../wording/wording.ts';
import type { NotifyWords } from './words.en.ts';

export const de = (plural: Plural): NotifyWords => ({
  notifyHere: 'In diesem Browser benachrichtigen',
  notifyHint: 'Auch wenn diese Seite geschlossen ist',
  notifyBlocked:
    'Dein Browser blockiert Benachrichtigungen dieser Seite. In seinen Einstellungen kannst du sie erlauben.',
  notifyUnsupported: 'Dieser Browser kann keine Benachrichtigungen zeigen.',
  notifyFailed: {
    blocked: 'Dein Browser hat es nicht erlaubt.',
    worker: 'Diese Seite ist noch nicht für Benachrichtigungen eingerichtet.',
    server: 'Der Server verschickt gerade keine Benachrichtigungen.',
    browser: 'Dein Browser konnte es nicht einrichten. Versuche es später noch einmal.',
    offline: 'Das hat nicht geklappt. Versuche es mit Verbindung noch einmal.',
  },
  notifyBodies: 'Zeigen, was geschrieben wurde',
  notifyBodiesHint: 'Sonst nur, wer geschrieben hat',
  quietHours: 'Ruhezeit',
  quietHint: 'In dieser Zeit keine Benachrichtigungen',
  quietFrom: 'Von',
  quietTo: 'Bis',
  mail: 'Verpasstes per E-Mail',
  mailHint: address => `An ${address}, höchstens einmal am Tag`,
  mailNever: 'Nie',
  mailMinutes: n => plural(n, { one: 'Nach einer Minute', other: `Nach ${n} Minuten` }),
  mailHours: n => plural(n, { one: 'Nach einer Stunde', other: `Nach ${n} Stunden` }),
});
