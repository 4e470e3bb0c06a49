// The delay before a retry. Full jitter spreads clients that lost their connection at the same time.

const BASE_MS = 1_000;
const CAP_MS = 30_000;

/** Milliseconds to wait after failure number `attempt` (from 0) in a row. `random` is in [0, 1). */
export function backoff(attempt: number, random: number): number {
  return Math.floor(random * Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt, 10)));
}
