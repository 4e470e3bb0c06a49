// The listeners of the page, by the event that they hear.

export interface Listeners<Events> {
  on<K extends keyof Events>(event: K, listener: (detail: Events[K]) => void): () => void;
  off<K extends keyof Events>(event: K, listener: (detail: Events[K]) => void): void;
  emit<K extends keyof Events>(event: K, detail: Events[K]): void;
  clear(): void;
}

type ByEvent<Events> = { [K in keyof Events]?: Set<(detail: Events[K]) => void> };

export function createListeners<Events>(): Listeners<Events> {
  // Without a prototype: a page may name any event, `toString` too.
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
    /** A listener that throws does not keep the others from hearing. */
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
