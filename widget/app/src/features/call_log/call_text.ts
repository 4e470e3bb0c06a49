// The entry of a finished call, in one line.

import type { Messages } from 'virtual:messages';
import type { CallEntry, Message } from '@kith/client';
import { type Fetchable, lateWords, wordsOf } from '../../wording/late_words.ts';
import { readCallsWith } from '../message_text/plain_text.ts';
import { duration } from './call_duration.ts';

/** Once they are here, all that says a message in a line says it of calls in their language. */
export const words: Fetchable = {
  async fetch(wording) {
    await lateWords.fetch(wording);
    readCallsWith((call, mine) => callText(wordsOf(wording, 'callLog'), call, mine));
  },
};

/** `mine`: one has called. */
export function callText({ callLine }: Messages['callLog'], call: CallEntry, mine: boolean): string {
  const says = callLine[call.media];
  switch (call.outcome) {
    case 'ended':
      return says.ended(duration(call.ms));
    case 'lost':
      return says.lost(duration(call.ms));
    case 'declined':
      return mine ? says.declined : says.youDeclined;
    case 'busy':
      return mine ? says.busy : says.missed;
    default:
      return mine ? says.notAnswered : says.missed;
  }
}

/** One was called and did not speak: it is worth a notice, and red. */
export function isMissed({ call, mine }: Pick<Message, 'call' | 'mine'>): boolean {
  return !mine && (call?.outcome === 'missed' || call?.outcome === 'cancelled' || call?.outcome === 'busy');
}
