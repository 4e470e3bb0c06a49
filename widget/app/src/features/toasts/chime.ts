// Two short notes for a new message, made on the spot: no file, no request.

/** Where the sound does not come at once it does not come at all: late, nobody knows what it was for. */
const PATIENCE_MS = 500;
const NOTES = [
  { at: 0, hertz: 659 },
  { at: 0.11, hertz: 880 },
];
const LOUDNESS = 0.09;
const SECONDS = 0.32;

export type Chime = () => void;

export function createChime(): Chime {
  let context: AudioContext | undefined;
  return () => {
    // A page that nobody has touched may not sound, and the browser complains of every try.
    if (typeof AudioContext === 'undefined' || navigator.userActivation?.hasBeenActive === false) return;
    try {
      context ??= new AudioContext();
    } catch {
      // The machine has no sound, or too many pages use it.
      return;
    }
    const playing = context;
    const asked = Date.now();
    playing.resume().then(
      () => {
        if (Date.now() - asked <= PATIENCE_MS) for (const note of NOTES) play(playing, note);
      },
      () => undefined,
    );
  };
}

function play(context: AudioContext, { at, hertz }: { at: number; hertz: number }): void {
  const start = context.currentTime + at;
  const tone = context.createOscillator();
  const loudness = context.createGain();
  tone.frequency.value = hertz;
  loudness.gain.setValueAtTime(0, start);
  loudness.gain.linearRampToValueAtTime(LOUDNESS, start + 0.012);
  loudness.gain.exponentialRampToValueAtTime(0.0001, start + SECONDS);
  tone.connect(loudness).connect(context.destination);
  tone.start(start);
  tone.stop(start + SECONDS);
}
