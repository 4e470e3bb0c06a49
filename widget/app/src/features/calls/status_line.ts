// The texts of a call's status line.

import type { Messages } from 'virtual:messages';
import type { Wording } from '../../wording/wording.ts';
import { duration } from '../call_log/call_duration.ts';
import type { CallView } from './call_view.ts';

type Words = Wording & Messages['calls'];

/** The state before the connection is established, or a problem. Undefined if all is well. */
export function trouble(shown: CallView, name: string, words: Words): string | undefined {
  switch (shown.stage) {
    case 'asking':
      return words.asking;
    case 'calling':
      return words.callingThem;
    case 'back':
      return words.comingBack;
    case 'over':
      return sentence(shown, name, words);
    default:
      if (shown.away) return words.theyAreAway(name);
      if (!shown.connected) return shown.quality ? words.reconnecting : words.joining;
      if (shown.holding) return words.holding;
      if (shown.held) return words.onHold(name);
      if (shown.theirs?.weak) return words.theirVideoWeak(name);
      if (shown.theirs && !shown.theirs.mic) return words.theirMicOff(name);
      return undefined;
  }
}

/** The duration, the path, and the quality of the network. */
export function quality({ since, quality: now, weak }: CallView, time: number, words: Words): string {
  const parts = since === undefined ? [] : [duration(time - since)];
  if (now?.way) parts.push(words[now.way]);
  if (weak) parts.push(words.weakVideoOff);
  else if (now?.weak) parts.push(words.weakNetwork);
  return parts.join(' · ');
}

/** Exact figures: packet loss and bit rate. */
export function figures({ quality: now }: CallView, words: Words): string | undefined {
  if (now === undefined) return undefined;
  const loss = new Intl.NumberFormat(words.language, { style: 'percent', maximumFractionDigits: 1 });
  return words.lossAndRate({ loss: loss.format(now.loss), rate: words.kbits(words.number(now.kbits)) });
}

/** The text about the end of the call. */
export function sentence({ end, ms }: CallView, name: string, words: Words): string {
  if (end === 'ended' && ms !== undefined) return words.endedAfter(duration(ms));
  const text = words.ends[end ?? 'ended'];
  return typeof text === 'string' ? text : text(name);
}

/** Advice for a device error, such as how to allow a refused device in this browser. */
export function mend(why: string, agent: string, words: Messages['calls']): string {
  if (why !== 'denied') return words.mends[why as Exclude<keyof Messages['calls']['mends'], 'denied'>];
  if (/Android|iPhone|iPad|Mobile/.test(agent)) return words.mends.phone;
  if (/Firefox\//.test(agent)) return words.mends.firefox;
  return /Chrome\//.test(agent) ? words.mends.chromium : words.mends.safari;
}
