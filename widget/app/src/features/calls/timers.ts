// Timers that are cancelled together.

export class Timers {
  #waiting = new Set<ReturnType<typeof setTimeout>>();

  after(ms: number, call: () => void): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      call();
    }, ms);
    this.#waiting.add(timer);
  }

  clear(): void {
    for (const timer of this.#waiting) clearTimeout(timer);
    this.#waiting.clear();
  }
}
