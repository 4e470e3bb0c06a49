// How a poll stands.

import type { Poll } from '@kith/client';

export function isOpen({ closed, ends }: Poll, now: number): boolean {
  return !closed && (ends === undefined || now < ends);
}

/** Of those who have voted, rounded. */
export function percentOf(votes: number, voters: number): number {
  return voters === 0 ? 0 : Math.round((votes / voters) * 100);
}

/** The choices as they are posted: without what is left empty. Undefined: not enough, or two are the same. */
export function choicesOf(written: readonly string[]): string[] | 'few' | 'same' {
  const choices = written.map(one => one.trim()).filter(one => one !== '');
  if (choices.length < FEWEST) return 'few';
  return new Set(choices).size < choices.length ? 'same' : choices;
}

export const FEWEST = 2;
export const MOST = 10;
