/** German. */

import type { CallLogWords } from './words.en.ts';

export const de = (): CallLogWords => ({
  callOne: 'Anrufen',
  callWithVoice: 'Sprachanruf',
  callWithVideo: 'Videoanruf',
  callLine: {
    audio: {
      ended: time => `Sprachanruf, ${time}`,
      lost: time => `Sprachanruf, ${time}, dann ging die Verbindung verloren`,
      notAnswered: 'Sprachanruf: keine Antwort',
      declined: 'Sprachanruf: abgelehnt',
      youDeclined: 'Sprachanruf: von dir abgelehnt',
      busy: 'Sprachanruf: besetzt',
      missed: 'Verpasster Sprachanruf',
    },
    video: {
      ended: time => `Videoanruf, ${time}`,
      lost: time => `Videoanruf, ${time}, dann ging die Verbindung verloren`,
      notAnswered: 'Videoanruf: keine Antwort',
      declined: 'Videoanruf: abgelehnt',
      youDeclined: 'Videoanruf: von dir abgelehnt',
      busy: 'Videoanruf: besetzt',
      missed: 'Verpasster Videoanruf',
    },
  },
  callBack: 'Zurückrufen',
  callOnceMore: 'Noch einmal anrufen',
  callsTitle: 'Anrufe',
  hideAddress: 'Netzadresse verbergen',
  hideAddressHint: 'Anrufe gehen über das Relais des Servers, nie direkt',
  checkCalls: 'Mikrofon, Kamera und Netz prüfen',
  checkCallsHint: 'Vor einem Anruf, oder wenn einer nicht geklappt hat',
});
