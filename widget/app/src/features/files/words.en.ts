/** English. */

import type { Plural } from '../../wording/wording.ts';

export const en = (plural: Plural) => ({
  files: (n: number) => plural(n, { one: '1 file', other: `${n} files` }),
  attach: 'Send files',
  record: 'Record a voice message',
  stopRecording: 'Stop recording',
  toSend: 'Files to send',
  remove: (name: string) => `Remove ${name}`,
  retryFile: (name: string) => `Retry ${name}`,
  preparing: 'Preparing…',
  uploading: (percent: string) => `Uploading, ${percent}`,
  waiting: 'Waiting for connection…',
  ready: 'Ready to send',
  sendsSoon: 'Sends when the upload is complete',
  picture: (name: string) => `Picture: ${name}`,
  pictureOf: (at: number, all: number) => `Picture ${at} of ${all}`,
  showPicture: (name: string) => `Show picture ${name}`,
  pictureLost: 'Could not load the picture.',
  download: (name: string) => `Download ${name}`,
  saveFile: 'Download',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  previous: 'Previous picture',
  next: 'Next picture',
  voice: 'Voice message',
  noMicrophone: 'No microphone found, or this page is not allowed to use it.',
  play: 'Play voice message',
  pause: 'Pause',
  position: 'Position',
  tooMany: 'You can send up to 10 files in one message.',
  dropHere: 'Drop files to send them',
  errors: {
    file_too_large: (most: string) => `File too large (maximum ${most})`,
    no_room_for_file: 'Storage is full',
    too_many_files: 'Too many files are uploading',
    first_contact: 'You can send files after they accept your request',
    bad_picture: 'This picture is damaged or not supported',
    no_such_conversation: 'Write a message here first',
    not_allowed: 'You cannot send files here',
    other: 'Upload failed',
  },
});

export type FilesWords = ReturnType<typeof en>;
