// The member's choices for calls in this browser. Stored when they choose, not before.

export type DeviceKind = 'mic' | 'camera' | 'speaker';

export function chosenDevice(kind: DeviceKind): string | undefined {
  return stored(kind) || undefined;
}

/** An empty id: as the system chooses. */
export function chooseDevice(kind: DeviceKind, id: string): void {
  store(kind, id);
}

/** The other one shall not learn one's address from the connection. */
export function hidesAddress(): boolean {
  return stored('relay') === 'on';
}

export function hideAddress(on: boolean): void {
  store('relay', on ? 'on' : 'off');
}

const PREFIX = 'kith.call.';
/** A browser may refuse storage; a choice then lasts as long as the page. */
const memory = new Map<string, string>();

function stored(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return memory.get(name);
  }
}

function store(name: string, value: string): void {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // It is in the memory.
  }
}
