/** English. */

import type { Plural } from '../wording/wording.ts';

export const en = (plural: Plural) => ({
  files: (n: number) => plural(n, { one: '1 file', other: `${n} files` }),
  attach: 'Send files',
  record: 'Record a voice message',
  toSend: 'Files to send',
  remove: (name: string) => `Remove ${name}`,
  retryFile: (name: string) => `Try ${name} again`,
  preparing: 'Getting ready…',
  uploading: (percent: string) => `Uploading, ${percent}`,
  waiting: 'Waiting for the connection…',
  ready: 'Ready to send',
  sendsSoon: 'Sends as soon as everything has arrived',
  picture: (name: string) => `Picture: ${name}`,
  pictureOf: (at: number, all: number) => `Picture ${at} of ${all}`,
  showPicture: (name: string) => `Show picture ${name}`,
  pictureLost: 'The picture could not be loaded.',
  download: (name: string) => `Download ${name}`,
  saveFile: 'Download',
  previous: 'Previous picture',
  next: 'Next picture',
  voice: 'Voice message',
  noMicrophone: 'There is no microphone, or it may not be used here.',
  play: 'Play voice message',
  pause: 'Pause',
  position: 'Position',
  tooMany: 'Ten files fit into one message.',
  dropHere: 'Drop files to send them',
  errors: {
    file_too_large: (most: string) => `Too large: ${most} at most`,
    no_room_for_file: 'No space left for files',
    too_many_files: 'Too many files are waiting to be sent',
    first_contact: 'You can send files once they have answered you',
    bad_picture: 'This picture cannot be read',
    no_such_conversation: 'Write a message here first',
    not_allowed: 'You cannot send files here',
    other: 'This did not work',
  },
});

export type FilesWords = ReturnType<typeof en>;
