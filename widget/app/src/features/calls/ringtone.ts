// Generates the ringing sounds: for the called user, and a softer one for the caller.

interface Pattern {
  everyMs: number;
  loudness: number;
  notes: readonly { at: number; hertz: number; seconds: number }[];
}

/** Two rising sequences of tones, then a pause. */
const RINGS: Pattern = {
  everyMs: 3_000,
  loudness: 0.14,
  notes: [0, 0.9].flatMap(at => [
    { at, hertz: 587, seconds: 0.28 },
    { at: at + 0.18, hertz: 740, seconds: 0.28 },
    { at: at + 0.36, hertz: 880, seconds: 0.45 },
  ]),
};
const WAITS: Pattern = { everyMs: 4_000, loudness: 0.05, notes: [{ at: 0, hertz: 425, seconds: 0.9 }] };

/**
 * Rings until the returned function is called. `mayRing` is checked each time, because the user may switch
 * to another tab.
 */
export function ring(what: 'rings' | 'waits', mayRing: () => boolean): () => void {
  const pattern = what === 'rings' ? RINGS : WAITS;
  let context: AudioContext | undefined;
  const once = () => {
    // A page without a user gesture must not play sound, and the browser logs a warning for every attempt.
    if (!mayRing() || navigator.userActivation?.hasBeenActive === false) return;
    try {
      context ??= new AudioContext();
    } catch {
      // The machine has no audio device, or too many pages use it.
      return;
    }
    const playing = context;
    playing.resume().then(
      () => play(playing, pattern),
      () => undefined,
    );
    if (what === 'rings') navigator.vibrate?.([300, 200, 300]);
  };
  once();
  const timer = setInterval(once, pattern.everyMs);
  return () => {
    clearInterval(timer);
    void context?.close().catch(() => undefined);
  };
}

function play(context: AudioContext, { notes, loudness }: Pattern): void {
  if (context.state !== 'running') return;
  for (const { at, hertz, seconds } of notes) {
    const start = context.currentTime + at;
    const tone = context.createOscillator();
    const gain = context.createGain();
    tone.frequency.value = hertz;
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(loudness, start + 0.02);
    gain.gain.setValueAtTime(loudness, start + seconds * 0.6);
    gain.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
    tone.connect(gain).connect(context.destination);
    tone.start(start);
    tone.stop(start + seconds);
  }
}
