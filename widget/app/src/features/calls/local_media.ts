// The user's own microphone, camera and screen: requests, changes and stops them.

import { chosenDevice, type DeviceKind } from './call_preferences.ts';

/** The reason why a device of the user does not work. */
export interface Problem {
  /** The requested device. */
  of: 'mic' | 'camera' | 'screen';
  why: Refusal;
}

/** `denied`: by the user or the browser. `policy`: by the page. `insecure`: browsers allow media only over https. */
export type Refusal = 'denied' | 'none' | 'inUse' | 'policy' | 'insecure' | 'other';

const INPUT = { mic: 'audio', camera: 'video' } as const;

export class LocalMedia {
  mic: MediaStreamTrack | undefined;
  camera: MediaStreamTrack | undefined;
  screen: MediaStreamTrack | undefined;

  /** `lost` is called when a device was unplugged, or when the browser's own bar has ended the capture. */
  constructor(private readonly lost: (what: 'mic' | 'camera' | 'screen') => void) {}

  /** The track that is sent as video. */
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
      // Sharp text is more important than smooth motion.
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

/** The device is only preferred: if it is gone, the browser chooses another one. */
function wishes(what: 'mic' | 'camera', deviceId: string | undefined): MediaTrackConstraints {
  const device = deviceId === undefined ? {} : { deviceId: { ideal: deviceId } };
  if (what === 'mic')
    return { ...device, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  const size = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30, max: 30 } };
  return { ...device, ...size, ...(deviceId === undefined && { facingMode: { ideal: 'user' } }) };
}

/** https://www.w3.org/TR/mediacapture-streams/#dom-mediadevices-getusermedia defines the errors. */
export function refusalOf(error: unknown, feature: string): Refusal {
  const name = (error as { name?: unknown } | null)?.name;
  if (name === 'NotAllowedError' || name === 'SecurityError')
    return allowedByPage(feature) ? 'denied' : 'policy';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'none';
  if (name === 'NotReadableError' || name === 'AbortError') return 'inUse';
  return 'other';
}

/** Chromium tells whether the page forbids the feature. For other browsers, assume that the page allows it. */
function allowedByPage(feature: string): boolean {
  const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
  return featurePolicy?.allowsFeature(feature) ?? true;
}

export interface Device {
  id: string;
  name: string;
}

/** The browser hides the names until the user has allowed one of the devices. */
export async function devices(kind: DeviceKind): Promise<Device[]> {
  const wanted = { mic: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' }[kind];
  const all = (await navigator.mediaDevices?.enumerateDevices?.()) ?? [];
  return all
    .filter(one => one.kind === wanted && one.deviceId !== '')
    .map((one, at) => ({ id: one.deviceId, name: one.label || String(at + 1) }));
}
