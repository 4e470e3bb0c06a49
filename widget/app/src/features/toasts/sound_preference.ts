// Whether new messages play a sound in this browser. Nothing is stored until the member makes a choice.

const STORED = 'kith.sound';

/** Reads the storage each time, because another tab may have changed the value. */
export function soundIsOn(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off';
  } catch {
    return chosen;
  }
}

export function chooseSound(on: boolean): void {
  chosen = on;
  try {
    localStorage.setItem(STORED, on ? 'on' : 'off');
  } catch {
    // The browser may refuse storage. The choice is then lost when the page unloads.
  }
}

let chosen = true;
