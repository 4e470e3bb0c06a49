// Listeners of one-time events.

import type { ClientEvents } from './client.ts';

export class Listeners {
  #byName = new Map<keyof ClientEvents, Set<(detail: never) => void>>();

  on<K extends keyof ClientEvents>(name: K, listener: (detail: ClientEvents[K]) => void): () => void {
    const listeners = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** One that throws does not keep the others from hearing. */
  emit<K extends keyof ClientEvents>(name: K, detail: ClientEvents[K]): void {
    for (const listener of [...(this.#byName.get(name) ?? [])]) {
      try {
        (listener as (detail: ClientEvents[K]) => void)(detail);
      } catch (error) {
        console.error(error);
      }
    }
  }

  clear(): void {
    this.#byName.clear();
  }
}
