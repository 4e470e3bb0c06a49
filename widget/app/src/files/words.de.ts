/** German. */

import type { Plural } from '../wording/wording.ts';
import type { FilesWords } from './words.en.ts';

export const de = (plural: Plural): FilesWords => ({
  files: n => plural(n, { one: '1 Datei', other: `${n} Dateien` }),
  attach: 'Dateien senden',
  record: 'Sprachnachricht aufnehmen',
  stopRecording: 'Aufnahme beenden',
  toSend: 'Dateien zum Senden',
  remove: name => `${name} entfernen`,
  retryFile: name => `${name} noch einmal versuchen`,
  preparing: 'Wird vorbereitet…',
  uploading: percent => `Wird hochgeladen, ${percent}`,
  waiting: 'Wartet auf die Verbindung…',
  ready: 'Bereit zum Senden',
  sendsSoon: 'Wird gesendet, sobald alles angekommen ist',
  picture: name => `Bild: ${name}`,
  pictureOf: (at, all) => `Bild ${at} von ${all}`,
  showPicture: name => `Bild ${name} zeigen`,
  pictureLost: 'Das Bild konnte nicht geladen werden.',
  download: name => `${name} herunterladen`,
  saveFile: 'Herunterladen',
  previous: 'Voriges Bild',
  next: 'Nächstes Bild',
  voice: 'Sprachnachricht',
  noMicrophone: 'Es gibt kein Mikrofon, oder es darf hier nicht benutzt werden.',
  play: 'Sprachnachricht abspielen',
  pause: 'Anhalten',
  position: 'Stelle',
  tooMany: 'In eine Nachricht passen zehn Dateien.',
  dropHere: 'Dateien hier ablegen, um sie zu senden',
  errors: {
    file_too_large: most => `Zu groß: höchstens ${most}`,
    no_room_for_file: 'Kein Platz mehr für Dateien',
    too_many_files: 'Zu viele Dateien warten darauf, gesendet zu werden',
    first_contact: 'Dateien kannst du senden, sobald dir geantwortet wurde',
    bad_picture: 'Dieses Bild kann nicht gelesen werden',
    no_such_conversation: 'Schreib hier zuerst eine Nachricht',
    not_allowed: 'Hier kannst du keine Dateien senden',
    other: 'Das hat nicht geklappt',
  },
});
