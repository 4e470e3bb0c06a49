// The table of pauses: the longest time from writing a message to its acknowledgement in a round, by the kind of its fault.

import { rowOf } from './plan.mjs';

const SEVERAL = 'several in one round';

export class Pauses {
  #rows = new Map();

  /** `ended`: the number of sessions that ended although no fault concerned their node. */
  add(faults, { pause, ended }) {
    const row = faults.length === 1 ? rowOf(faults[0]) : SEVERAL;
    const rounds = this.#rows.get(row) ?? [];
    this.#rows.set(row, rounds);
    rounds.push({ pause, ended, lasts: faults.length === 1 ? faults[0].lasts : undefined });
  }

  /** A table in Markdown. */
  text() {
    const seconds = ms => (ms === undefined ? '–' : `${(ms / 1_000).toFixed(1)} s`);
    const rows = [...this.#rows]
      .sort(([one], [other]) => Number(one === SEVERAL) - Number(other === SEVERAL) || (one < other ? -1 : 1))
      .map(([row, rounds]) => {
        const pauses = rounds.map(({ pause }) => pause);
        const lasts = rounds.map(one => one.lasts).filter(one => one !== undefined);
        return [
          row,
          rounds.length,
          seconds(median(lasts)),
          seconds(median(pauses)),
          seconds(Math.max(...pauses)),
          median(rounds.map(one => one.ended)),
        ];
      });
    return [
      [
        'fault',
        'rounds',
        'lasts, median',
        'longest pause, median',
        'worst',
        'sessions of other nodes that ended, median',
      ],
      ['---', '---', '---', '---', '---', '---'],
      ...rows,
    ]
      .map(row => `| ${row.join(' | ')} |`)
      .join('\n');
  }
}

export function median(values) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}
