// Measures the level of a microphone during a recording.

/** Milliseconds between two values: a message of ten minutes has 6,000 values. */
const MEASURE_MS = 100;

export class LevelMeter {
  /** Values from 0 to 1, oldest first. */
  readonly levels: number[] = [];
  #context: AudioContext | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Calls `measured` after each value. Without Web Audio, `levels` stays empty. */
  constructor(stream: MediaStream, measured: () => void) {
    try {
      this.#context = new AudioContext();
      const analyser = this.#context.createAnalyser();
      analyser.fftSize = 2_048;
      this.#context.createMediaStreamSource(stream).connect(analyser);
      const samples = new Float32Array(analyser.fftSize);
      this.#timer = setInterval(() => {
        analyser.getFloatTimeDomainData(samples);
        this.levels.push(samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0));
        measured();
      }, MEASURE_MS);
    } catch {
      this.close();
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#context?.close().catch(() => undefined);
    this.#context = undefined;
  }
}
