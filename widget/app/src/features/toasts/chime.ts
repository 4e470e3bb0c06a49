// Two short notes for a new message. Web Audio generates them, so no file is requested.

/** If the browser allows the sound later than this, skip it: a late sound has no visible cause. */
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
    // Browsers block sound before the first user activation, and log a warning for each attempt.
    if (typeof AudioContext === 'undefined' || navigator.userActivation?.hasBeenActive === false) return;
    try {
      context ??= new AudioContext();
    } catch {
      // The device has no audio output, or too many pages use it.
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
