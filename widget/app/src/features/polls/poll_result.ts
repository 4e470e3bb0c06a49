// Rules of polls: whether one is open, the share of a choice, and the valid choices of a new poll.

import type { Poll } from '@kith/client';

export function isOpen({ closed, ends }: Poll, now: number): boolean {
  return !closed && (ends === undefined || now < ends);
}

/** The percentage of voters who chose this, rounded. */
export function percentOf(votes: number, voters: number): number {
  return voters === 0 ? 0 : Math.round((votes / voters) * 100);
}

/** The choices to post, without empty ones. `few`: fewer than `FEWEST` are left. `same`: two are equal. */
export function choicesOf(written: readonly string[]): string[] | 'few' | 'same' {
  const choices = written.map(one => one.trim()).filter(one => one !== '');
  if (choices.length < FEWEST) return 'few';
  return new Set(choices).size < choices.length ? 'same' : choices;
}

export const FEWEST = 2;
export const MOST = 10;
