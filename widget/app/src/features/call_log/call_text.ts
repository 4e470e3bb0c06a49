// The one-line text of a finished call.

import type { Messages } from 'virtual:messages';
import type { CallEntry, Message } from '@kith/client';
import { type Fetchable, lateWords, wordsOf } from '../../wording/late_words.ts';
import { readCallsWith } from '../message_text/plain_text.ts';
import { duration } from './call_duration.ts';

/** Loads the words for calls. `fetch` also registers `callText`, so that message previews describe calls. */
export const words: Fetchable = {
  async fetch(wording) {
    await lateWords.fetch(wording);
    readCallsWith((call, mine) => callText(wordsOf(wording, 'callLog'), call, mine));
  },
};

/** `mine`: the current user made the call. */
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

/** True if the current user was called and did not answer. Such a call is shown in red. */
export function isMissed({ call, mine }: Pick<Message, 'call' | 'mine'>): boolean {
  return !mine && (call?.outcome === 'missed' || call?.outcome === 'cancelled' || call?.outcome === 'busy');
}
