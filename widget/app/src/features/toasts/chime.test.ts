// @vitest-environment happy-dom

import { afterEach, expect, test, vi } from 'vitest';
import { createChime } from './chime.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Records the calls of Web Audio. `resume` decides when the page may play sound. */
function audio(resume: () => Promise<void> = () => Promise.resolve()) {
  const played: number[] = [];
  let contexts = 0;
  const parameter = () => ({
    value: 0,
    setValueAtTime: () => undefined,
    linearRampToValueAtTime: () => undefined,
    exponentialRampToValueAtTime: () => undefined,
  });
  class FakeAudio {
    currentTime = 0;
    destination = {};
    resume = resume;
    constructor() {
      contexts += 1;
    }
    createGain = () => ({ gain: parameter(), connect: (to: unknown) => to });
    createOscillator = () => {
      const frequency = parameter();
      return {
        frequency,
        connect: (to: unknown) => to,
        start: () => played.push(frequency.value),
        stop: () => undefined,
      };
    };
  }
  vi.stubGlobal('AudioContext', FakeAudio);
  return { played, contexts: () => contexts };
}

const touched = (hasBeenActive: boolean) =>
  vi.stubGlobal('navigator', { ...navigator, userActivation: { hasBeenActive } });

test('a chime has two notes, and all chimes share one audio context', async () => {
  const { played, contexts } = audio();
  touched(true);
  const chime = createChime();
  chime();
  chime();
  await Promise.resolve();
  expect(played).toEqual([659, 880, 659, 880]);
  expect(contexts()).toBe(1);
});

test('without a user activation the page creates no audio context', async () => {
  const { contexts } = audio();
  touched(false);
  createChime()();
  await Promise.resolve();
  expect(contexts()).toBe(0);
});

test('a sound that the browser allows too late is skipped', async () => {
  vi.useFakeTimers();
  const { played } = audio(() => new Promise(resolve => setTimeout(resolve, 10_000)));
  touched(true);
  createChime()();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(played).toEqual([]);
});

test('a missing or failing Web Audio does not throw', () => {
  touched(true);
  vi.stubGlobal('AudioContext', undefined);
  expect(createChime()).not.toThrow();
  vi.stubGlobal('AudioContext', () => {
    throw new Error('too many');
  });
  expect(createChime()).not.toThrow();
});
