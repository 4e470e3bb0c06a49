// Whether new messages sound in this browser. Written only when the member chooses; before that nothing is stored.

const STORED = 'kith.sound';

/** Asked each time: another tab may have changed it. */
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
    // A browser may refuse storage; the choice then lasts as long as the page.
  }
}

let chosen = true;
