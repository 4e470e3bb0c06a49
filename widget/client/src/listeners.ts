// Listeners of one-time events.

import type { Happenings } from './client.ts';

export class Listeners {
  #byName = new Map<keyof Happenings, Set<(detail: never) => void>>();

  on<K extends keyof Happenings>(name: K, listener: (detail: Happenings[K]) => void): () => void {
    const listeners = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** One that throws does not keep the others from hearing. */
  emit<K extends keyof Happenings>(name: K, detail: Happenings[K]): void {
    for (const listener of [...(this.#byName.get(name) ?? [])]) {
      try {
        (listener as (detail: Happenings[K]) => void)(detail);
      } catch (error) {
        console.error(error);
      }
    }
  }

  clear(): void {
    this.#byName.clear();
  }
}
