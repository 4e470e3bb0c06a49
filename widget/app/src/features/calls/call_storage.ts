// The state of a call that only its own tab restores after a reload.

export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface Kept {
  mic: boolean;
  camera: boolean;
}

const KEY = 'kith:call:own';

export function keep(storage: TabStorage, kept: Kept): void {
  storage.setItem(KEY, JSON.stringify(kept));
}

export function forget(storage: TabStorage): void {
  storage.removeItem(KEY);
}

export function remembered(storage: TabStorage): Kept {
  try {
    const { mic = true, camera = false } = JSON.parse(storage.getItem(KEY) ?? '{}');
    return { mic: mic === true, camera: camera === true };
  } catch {
    return { mic: true, camera: false };
  }
}

/** `sessionStorage`. If a browser refuses it or it is full, a reload ends the call, and nothing else changes. */
export function tabStorage(): TabStorage {
  const all = <T>(use: (storage: Storage) => T) => {
    try {
      return use(window.sessionStorage);
    } catch {
      return null;
    }
  };
  return {
    getItem: key => all(storage => storage.getItem(key)),
    setItem: (key, value) => void all(storage => storage.setItem(key, value)),
    removeItem: key => void all(storage => storage.removeItem(key)),
  };
}

/**
 * True if this tab is the one in the call: a duplicated tab has the same ticket. The lock is held as long
 * as the page lives.
 */
export function claim(call: string): Promise<boolean> {
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined) return Promise.resolve(true);
  return new Promise(resolve => {
    locks
      .request(`kith:call:${call}`, { ifAvailable: true }, lock => {
        resolve(lock !== null);
        return lock === null ? undefined : new Promise(() => undefined);
      })
      .catch(() => resolve(true));
  });
}
