// When to come back: full jitter, so that those who were cut off together do not return together.

const BASE_MS = 2_000;
const CAP_MS = 60_000;

/** Milliseconds to wait before try number `attempt` (from 0). `random` is in [0, 1). */
export function backoff(attempt: number, random: number): number {
  return Math.floor(random * Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt, 10)));
}

/**
 * The server named a moment. It has spread its clients already, but a proxy that answers for it has not, hence a
 * little jitter on top; never earlier.
 */
export function notBefore(retryAfter: number, random: number): number {
  return Math.floor(retryAfter + random * Math.min(CAP_MS / 4, retryAfter / 10 + 250));
}
