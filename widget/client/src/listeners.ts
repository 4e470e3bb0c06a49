// Listeners of one-time events.

type ByName<Events> = { [K in keyof Events]?: Set<(detail: Events[K]) => void> };

export class Listeners<Events> {
  #byName: ByName<Events> = {};

  on<K extends keyof Events>(name: K, listener: (detail: Events[K]) => void): () => void {
    const listeners = this.#byName[name] ?? new Set();
    this.#byName[name] = listeners;
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Calls all listeners, also after one has thrown. */
  emit<K extends keyof Events>(name: K, detail: Events[K]): void {
    for (const listener of [...(this.#byName[name] ?? [])]) {
      try {
        listener(detail);
      } catch (error) {
        console.error(error);
      }
    }
  }

  clear(): void {
    this.#byName = {};
  }
}
