// Measures the loudness of a microphone for a level meter.

/** Calls `heard` with a level from 0 to 1 every 100 ms, until the returned function is called. */
export function listen(track: MediaStreamTrack, heard: (level: number) => void): () => void {
  let context: AudioContext;
  try {
    context = new AudioContext();
  } catch {
    // The machine has no audio device, or too many pages use it.
    return () => undefined;
  }
  const analyser = context.createAnalyser();
  analyser.fftSize = 1_024;
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  void context.resume().catch(() => undefined);
  const wave = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(wave);
    heard(levelOf(wave));
  }, 100);
  return () => {
    clearInterval(timer);
    void context.close().catch(() => undefined);
  };
}

/** The level is linear in decibels, like hearing: -60 dB is 0, and 0 dB is 1. */
export function levelOf(wave: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < wave.length; at++) sum += (wave[at] ?? 0) ** 2;
  const loudness = 20 * Math.log10(Math.sqrt(sum / Math.max(1, wave.length)) || 1e-9);
  return Math.max(0, Math.min(1, (loudness + 60) / 60));
}
