// Random numbers that a seed repeats.

export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). The algorithm is mulberry32. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick(list) {
    return list[this.between(0, list.length - 1)];
  }

  chance(share) {
    return this.next() < share;
  }
}
