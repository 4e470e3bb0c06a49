// The listeners of the page, by event.

export interface Listeners<Events> {
  on<K extends keyof Events>(event: K, listener: (detail: Events[K]) => void): () => void;
  off<K extends keyof Events>(event: K, listener: (detail: Events[K]) => void): void;
  emit<K extends keyof Events>(event: K, detail: Events[K]): void;
  clear(): void;
}

type ByEvent<Events> = { [K in keyof Events]?: Set<(detail: Events[K]) => void> };

export function createListeners<Events>(): Listeners<Events> {
  // The object has no prototype, because a page may use any event name, even `toString`.
  let listeners: ByEvent<Events> = Object.create(null);
  return {
    on(event, listener) {
      const all = listeners[event] ?? new Set();
      listeners[event] = all;
      all.add(listener);
      return () => all.delete(listener);
    },
    off(event, listener) {
      listeners[event]?.delete(listener);
    },
    /** Calls all listeners, also after one has thrown. */
    emit(event, detail) {
      for (const listener of Array.from(listeners[event] ?? [])) {
        try {
          listener(detail);
        } catch (error) {
          console.error(error);
        }
      }
    },
    clear() {
      listeners = Object.create(null);
    },
  };
}
