// One's own microphone, camera and screen: asked for, changed, and let go of.

import { chosenDevice, type DeviceKind } from './call_preferences.ts';

/** Why there is no sound or picture of one's own. */
export interface Problem {
  /** The wanted device. */
  of: 'mic' | 'camera' | 'screen';
  why: Refusal;
}

/** `denied`: by the member or the browser. `policy`: by the page. `insecure`: browsers give media to https alone. */
export type Refusal = 'denied' | 'none' | 'inUse' | 'policy' | 'insecure' | 'other';

const INPUT = { mic: 'audio', camera: 'video' } as const;

export class LocalMedia {
  mic: MediaStreamTrack | undefined;
  camera: MediaStreamTrack | undefined;
  screen: MediaStreamTrack | undefined;

  /** `lost`: a device was pulled out, or the browser's own bar has ended it. */
  constructor(private readonly lost: (what: 'mic' | 'camera' | 'screen') => void) {}

  /** The track that is sent as the picture. */
  get picture(): MediaStreamTrack | undefined {
    return this.screen ?? this.camera;
  }

  async open(what: 'mic' | 'camera', deviceId = chosenDevice(what)): Promise<Problem | undefined> {
    if (navigator.mediaDevices?.getUserMedia === undefined) return { of: what, why: 'insecure' };
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ [INPUT[what]]: wishes(what, deviceId) });
      const [track] = stream.getTracks();
      this.close(what);
      this[what] = track;
      if (track) track.onended = () => this.#ended(what, track);
      return undefined;
    } catch (error) {
      return { of: what, why: refusalOf(error, what === 'mic' ? 'microphone' : 'camera') };
    }
  }

  async openScreen(): Promise<Problem | undefined> {
    if (navigator.mediaDevices?.getDisplayMedia === undefined) return { of: 'screen', why: 'other' };
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: true });
      const [track] = stream.getVideoTracks();
      // Letters shall be sharp, motion may wait.
      if (track && 'contentHint' in track) track.contentHint = 'detail';
      this.screen = track;
      if (track) track.onended = () => this.#ended('screen', track);
      return undefined;
    } catch (error) {
      return { of: 'screen', why: refusalOf(error, 'display-capture') };
    }
  }

  close(what: 'mic' | 'camera' | 'screen'): void {
    const track = this[what];
    if (track === undefined) return;
    track.onended = null;
    track.stop();
    this[what] = undefined;
  }

  closeAll(): void {
    for (const what of ['mic', 'camera', 'screen'] as const) this.close(what);
  }

  #ended(what: 'mic' | 'camera' | 'screen', track: MediaStreamTrack): void {
    if (this[what] !== track) return;
    this[what] = undefined;
    this.lost(what);
  }
}

/** One that is gone is no reason to have none: it is a wish. */
function wishes(what: 'mic' | 'camera', deviceId: string | undefined): MediaTrackConstraints {
  const device = deviceId === undefined ? {} : { deviceId: { ideal: deviceId } };
  if (what === 'mic')
    return { ...device, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  const size = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30, max: 30 } };
  return { ...device, ...size, ...(deviceId === undefined && { facingMode: { ideal: 'user' } }) };
}

/** https://www.w3.org/TR/mediacapture-streams/#dom-mediadevices-getusermedia names the errors. */
export function refusalOf(error: unknown, feature: string): Refusal {
  const name = (error as { name?: unknown } | null)?.name;
  if (name === 'NotAllowedError' || name === 'SecurityError')
    return allowedByPage(feature) ? 'denied' : 'policy';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'none';
  if (name === 'NotReadableError' || name === 'AbortError') return 'inUse';
  return 'other';
}

/** Chromium says whether it is the page that forbids it; of others we believe that it does not. */
function allowedByPage(feature: string): boolean {
  const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
  return featurePolicy?.allowsFeature(feature) ?? true;
}

export interface Device {
  id: string;
  name: string;
}

/** Their names are told only once one of them may be used. */
export async function devices(kind: DeviceKind): Promise<Device[]> {
  const wanted = { mic: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' }[kind];
  const all = (await navigator.mediaDevices?.enumerateDevices?.()) ?? [];
  return all
    .filter(one => one.kind === wanted && one.deviceId !== '')
    .map((one, at) => ({ id: one.deviceId, name: one.label || String(at + 1) }));
}
