// The user's preferences for calls in this browser. Nothing is stored before the user makes a choice.

export type DeviceKind = 'mic' | 'camera' | 'speaker';

export function chosenDevice(kind: DeviceKind): string | undefined {
  return stored(kind) || undefined;
}

/** An empty id means the default device of the system. */
export function chooseDevice(kind: DeviceKind, id: string): void {
  store(kind, id);
}

/** Whether the connection must hide the user's IP address from the other user. */
export function hidesAddress(): boolean {
  return stored('relay') === 'on';
}

export function hideAddress(on: boolean): void {
  store('relay', on ? 'on' : 'off');
}

const PREFIX = 'kith.call.';
/** A browser may refuse storage. A choice then lasts as long as the page. */
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
    // The value is in `memory`.
  }
}
