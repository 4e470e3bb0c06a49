// @vitest-environment happy-dom

import { afterEach, expect, test, vi } from 'vitest';
import { chooseDevice } from './call_preferences.ts';
import { devices, LocalMedia, refusalOf } from './local_media.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  localStorage.clear();
});

class Track {
  onended: (() => void) | null = null;
  stopped = false;
  enabled = true;
  stop() {
    this.stopped = true;
  }
}

function devicesThat(give: (wanted: MediaStreamConstraints) => Track) {
  const asked: MediaStreamConstraints[] = [];
  vi.stubGlobal('navigator', {
    mediaDevices: {
      async getUserMedia(wanted: MediaStreamConstraints) {
        asked.push(wanted);
        const track = give(wanted);
        return { getTracks: () => [track] };
      },
      async enumerateDevices() {
        return [
          { kind: 'audioinput', deviceId: 'm1', label: 'Headset' },
          { kind: 'audioinput', deviceId: 'm2', label: '' },
          { kind: 'audioinput', deviceId: '', label: '' },
          { kind: 'videoinput', deviceId: 'c1', label: 'Front' },
        ];
      },
    },
  });
  return asked;
}

test('a chosen device is only preferred, so that a missing device is not an error', async () => {
  const asked = devicesThat(() => new Track());
  chooseDevice('mic', 'm2');
  const own = new LocalMedia(() => undefined);
  expect(await own.open('mic')).toBeUndefined();
  expect(asked[0]).toMatchObject({ audio: { deviceId: { ideal: 'm2' }, echoCancellation: true } });
});

test('another device replaces and stops the previous one', async () => {
  const given: Track[] = [];
  devicesThat(() => {
    const track = new Track();
    given.push(track);
    return track;
  });
  const lost = vi.fn();
  const own = new LocalMedia(lost);
  await own.open('camera', 'c1');
  await own.open('camera', 'c2');
  expect(given.map(one => one.stopped)).toEqual([true, false]);
  expect(own.picture).toBe(given[1]);
  given[1]?.onended?.();
  expect([own.picture, lost.mock.calls]).toEqual([undefined, [['camera']]]);
});

test('a refused device has a reason', async () => {
  const named = (name: string) => Object.assign(new Error(name), { name });
  const why = ['NotAllowedError', 'NotFoundError', 'OverconstrainedError', 'NotReadableError', 'TypeError'];
  expect(why.map(name => refusalOf(named(name), 'microphone'))).toEqual([
    'denied',
    'none',
    'none',
    'inUse',
    'other',
  ]);
  vi.stubGlobal('document', { featurePolicy: { allowsFeature: (name: string) => name !== 'camera' } });
  expect(refusalOf(named('NotAllowedError'), 'camera')).toBe('policy');
  expect(refusalOf(named('NotAllowedError'), 'microphone')).toBe('denied');
  devicesThat(() => {
    throw named('NotReadableError');
  });
  expect(await new LocalMedia(() => undefined).open('mic')).toEqual({ of: 'mic', why: 'inUse' });
  vi.stubGlobal('navigator', {});
  expect(await new LocalMedia(() => undefined).open('mic')).toEqual({ of: 'mic', why: 'insecure' });
});

test('devices have names, or numbers if the browser hides the names', async () => {
  devicesThat(() => new Track());
  expect(await devices('mic')).toEqual([
    { id: 'm1', name: 'Headset' },
    { id: 'm2', name: '2' },
  ]);
  expect(await devices('speaker')).toEqual([]);
});
