// What a message says in one line, without its marks.

import type { Message } from '@kith/client';
import type { NameOf } from './formatting.ts';

type PlainOf = (body: string, nameOf?: NameOf) => string;

let read: PlainOf = body => body;

/** As it was written, until the reader of marks has come. */
export function plainOf(body: string, nameOf?: NameOf): string {
  return read(body, nameOf);
}

/** The same of a message, or the files that it brings. */
export function gistOf({ body, files }: Pick<Message, 'body' | 'files'>, nameOf?: NameOf): string {
  return (
    plainOf(body, nameOf) || (files ?? []).map(file => (file.voice ? '🎤' : `📎 ${file.name}`)).join(', ')
  );
}

export async function fetchReader(): Promise<void> {
  read = (await import('./formatting.ts')).plainOf;
}
