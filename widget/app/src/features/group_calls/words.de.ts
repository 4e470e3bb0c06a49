/** German. */

import type { GroupWords } from './words.en.ts';

export const de = (): GroupWords => ({
  startCall: 'Einen Anruf in diesem Raum beginnen',
  callIn: name => `Anruf in ${name}`,
  callStands: count => `Anruf · ${count} hier`,
  callIsFull: count => `Der Anruf ist voll: ${count} können teilnehmen`,
  inThisCall: 'Du bist in diesem Anruf',
  joinCall: 'Teilnehmen',
  leaveCall: 'Den Anruf verlassen',
  hereCount: count => `${count} hier`,
  alone: 'Noch ist niemand sonst hier',
  cameIn: name => `${name} ist jetzt im Anruf.`,
  wentOut: name => `${name} hat den Anruf verlassen.`,
  states: {
    connecting: 'Verbinde…',
    away: 'Verbindung verloren, bitte warten…',
    unreachable: 'Aus deinem Netz nicht erreichbar',
    apart: 'Nicht mit dir verbunden',
  },
  outs: {
    left: 'Du hast den Anruf verlassen.',
    taken_out: 'Du bist nicht mehr in diesem Anruf.',
    tooLarge: 'Dieser Raum hat zu viele Mitglieder für Anrufe.',
    notAllowed: 'Du kannst in diesem Raum nicht an Anrufen teilnehmen.',
  },
});
