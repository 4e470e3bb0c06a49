// The text of a message without formatting marks, for a single line.

import type { CallEntry, Message } from '@kith/client';
import type { Wording } from '../../wording/wording.ts';
import { clock } from '../files/sound_duration.ts';
import type { NameOf } from './formatting.ts';

type PlainOf = (body: string, nameOf?: NameOf) => string;

let read: PlainOf = body => body;

/** Returns the text unchanged until `fetchReader` has loaded the parser. */
export function plainOf(body: string, nameOf?: NameOf): string {
  return read(body, nameOf);
}

/** One line for a whole message: its text, its files, or its call. */
export function gistOf(
  {
    body,
    files,
    call,
    opaque,
    mine,
  }: Pick<Message, 'body' | 'files' | 'call' | 'opaque'> & { mine?: boolean },
  words: Pick<Wording, 'opaqueMessage'>,
  nameOf?: NameOf,
): string {
  if (opaque) return words.opaqueMessage;
  if (call && readCall) return readCall(call, mine === true);
  return (
    plainOf(body, nameOf) ||
    (files ?? [])
      .map(file => (file.voice ? `🎤 ${clock((file.duration ?? 0) / 1_000)}` : `📎 ${file.name}`))
      .join(', ')
  );
}

let readCall: ((call: CallEntry, mine: boolean) => string) | undefined;

/** Sets the function that describes calls. Before that, a call shows the server's English text. */
export function readCallsWith(read: typeof readCall): void {
  readCall = read;
}

export async function fetchReader(): Promise<void> {
  read = (await import('./formatting.ts')).plainOf;
}
