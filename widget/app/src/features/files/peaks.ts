// The loudness of a voice message over time, in the format of the server: at most 64 digits from 0
// (silence) to z (loudest).

const MOST = 64;
const LOUDEST = 35;

/** `levels`: values from 0 to 1 in order of time. The loudest becomes `z`, unless it is below `QUIET`. */
export function peaksOf(levels: ArrayLike<number>): string {
  const parts = Math.min(MOST, levels.length);
  const highest = Array.from({ length: parts }, (_, part) => {
    const end = Math.floor(((part + 1) * levels.length) / parts);
    let most = 0;
    for (let at = Math.floor((part * levels.length) / parts); at < end; at++)
      most = Math.max(most, Math.abs(levels[at] ?? 0));
    return most;
  });
  // Noise of a quiet room must not look like a voice.
  const loudest = Math.max(QUIET, ...highest);
  return highest.map(one => Math.round((one / loudest) * LOUDEST).toString(36)).join('');
}

const QUIET = 0.02;

/** The height of each part, from 0 to 1. */
export function heights(peaks: string): number[] {
  return Array.from(peaks, digit => (Number.parseInt(digit, LOUDEST + 1) || 0) / LOUDEST);
}
