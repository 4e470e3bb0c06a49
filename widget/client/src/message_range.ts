// Known messages of a conversation: ascending stretches without gaps, with gaps between them.

import type { Message } from './wire.ts';

/**
 * `messages` has all existing messages with a seq in [from, to]. The range may cover more numbers than it has messages,
 * because retention may have deleted some.
 */
export interface MessageRange {
  from: number;
  to: number;
  messages: readonly Message[];
}

/**
 * Adds a stretch, and joins stretches that touch. Known messages stay the same objects unless the added version is
 * newer.
 */
export function cover(stretches: readonly MessageRange[], added: MessageRange): readonly MessageRange[] {
  if (added.from > added.to) return stretches;
  const before = stretches.filter(one => one.to + 1 < added.from);
  const after = stretches.filter(one => one.from > added.to + 1);
  const touching = stretches.slice(before.length, stretches.length - after.length);
  const merged = touching.reduce(join, added);
  const only = touching[0];
  const nothingNew =
    touching.length === 1 &&
    only?.from === merged.from &&
    only.to === merged.to &&
    only.messages === merged.messages;
  return nothingNew ? stretches : [...before, merged, ...after];
}

/** The known message with this seq. */
export function find(stretches: readonly MessageRange[], seq: number): Message | undefined {
  return around(stretches, seq)?.messages.find(one => one.seq === seq);
}

export function around(stretches: readonly MessageRange[], seq: number): MessageRange | undefined {
  return stretches.find(one => one.from <= seq && seq <= one.to);
}

/** Is `one` a newer version of the message than `other`? */
export function isNewer(one: { version?: number }, other: Message): boolean {
  return (one.version ?? 0) > (other.version ?? 0);
}

export function covers(stretches: readonly MessageRange[], seq: number): boolean {
  return around(stretches, seq) !== undefined;
}

/** The stretch with the highest seqs. */
export function newest(stretches: readonly MessageRange[]): MessageRange | undefined {
  return stretches.at(-1);
}

/** Keeps at most `count` messages, the newest ones, in one stretch. */
export function trim(stretches: readonly MessageRange[], count: number): readonly MessageRange[] {
  const last = newest(stretches);
  if (last === undefined) return stretches;
  if (last.messages.length <= count) return stretches.length === 1 ? stretches : [last];
  const messages = last.messages.slice(-count);
  return [{ from: messages[0]?.seq ?? last.to, to: last.to, messages }];
}

function join(added: MessageRange, known: MessageRange): MessageRange {
  return {
    from: Math.min(known.from, added.from),
    to: Math.max(known.to, added.to),
    messages: union(known.messages, added.messages),
  };
}

function union(known: readonly Message[], added: readonly Message[]): readonly Message[] {
  const first = added[0];
  const last = known.at(-1);
  if (first === undefined) return known;
  if (last === undefined) return added;
  if (last.seq < first.seq) return [...known, ...added];
  const bySeq = new Map(known.map(one => [one.seq, one]));
  const news = added.filter(one => {
    const there = bySeq.get(one.seq);
    return there === undefined || isNewer(one, there);
  });
  if (news.length === 0) return known;
  for (const one of news) bySeq.set(one.seq, one);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
