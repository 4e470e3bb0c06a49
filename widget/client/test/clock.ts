// Virtual time: the test advances the clock, timers run in their order, and random numbers come from a seed.

export class Clock {
  now = 1_764_000_000_000;
  #timers: { at: number; order: number; call: () => void }[] = [];
  #order = 0;

  timer = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.now + Math.max(0, ms), order: this.#order++, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter(one => one !== timer);
    };
  };

  /** Runs all timers that are due within `ms`, one by one, and settles all promises in between. */
  async advance(ms: number): Promise<void> {
    const end = this.now + ms;
    await settle();
    for (;;) {
      const next = this.#timers
        .filter(one => one.at <= end)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!next) break;
      this.#timers = this.#timers.filter(one => one !== next);
      this.now = Math.max(this.now, next.at);
      next.call();
      await settle();
    }
    this.now = end;
  }

  /** The machine sleeps: time passes and no timer runs. */
  sleep(ms: number): void {
    this.now += ms;
  }
}

/** Runs all promise reactions that are ready, and those that become ready through them. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

/** mulberry32. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
