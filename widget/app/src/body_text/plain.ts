// What a message says in one line, without its marks.

import type { NameOf } from './formatting.ts';

type PlainOf = (body: string, nameOf?: NameOf) => string;

let read: PlainOf = body => body;

/** As it was written, until the reader of marks has come. */
export function plainOf(body: string, nameOf?: NameOf): string {
  return read(body, nameOf);
}

export async function fetchReader(): Promise<void> {
  read = (await import('./formatting.ts')).plainOf;
}
