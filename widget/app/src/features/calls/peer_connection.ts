// One connection to the other one's browser: offer, answer and candidates in their order. Knows no server and no screen.

import type { IceServer } from '@kith/client';
import { type Sample, sampleOf } from './network_quality.ts';

/** Two browsers that have not found each other by then will not. */
export const REACH_MS = 25_000;
/** A way that is lost may come back by itself; then another one is looked for. */
export const AGAIN_MS = 4_000;

/** State of one's own camera and microphone, for the other side. */
export interface Told {
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** The camera is off because the network is weak. */
  weak: boolean;
}

export interface PeerConnectionHost {
  /** A way in which one can be reached: for the other one's `candidate`. */
  say(candidate: string): void;
  told(told: Told): void;
  /** The other one's voice or picture. */
  came(): void;
  changed(): void;
}

/** The side that made the first offer makes all later ones, too, so that offers never cross. */
export class PeerConnection {
  /** Sound and picture of the other side. Apart, because a shared stream would stay silent until the first picture comes. */
  voice: MediaStream | undefined;
  picture: MediaStream | undefined;
  offers = false;
  /** There was a way once. */
  reached = false;

  #pc: RTCPeerConnection;
  #channel: RTCDataChannel;
  /** One has a place in the call only after the server has said so; before, nothing can be said. */
  #placed = false;
  #unsaid: string[] = [];
  /** They came before the description that they belong to. */
  #early: RTCIceCandidateInit[] = [];
  #offer: RTCSessionDescriptionInit | undefined;
  /** Own offer is in force; an answer that is quicker waits for it. */
  #begun: Promise<void> | undefined;
  #last: Told | undefined;
  #limit: PictureLimit = { bits: MOST_VIDEO_BITS };

  constructor(
    ice: readonly IceServer[],
    private relayOnly: boolean,
    private readonly host: PeerConnectionHost,
  ) {
    this.#pc = new RTCPeerConnection(this.#configured(ice));
    this.#pc.onicecandidate = ({ candidate }) => this.#say(candidate ? JSON.stringify(candidate) : '');
    this.#pc.onconnectionstatechange = () => {
      this.reached ||= this.state === 'connected';
      host.changed();
    };
    this.#pc.ontrack = ({ track }) => {
      this[track.kind === 'audio' ? 'voice' : 'picture'] = new MediaStream([track]);
      host.came();
    };
    // Both make it, so that it needs no word about it.
    this.#channel = this.#pc.createDataChannel('told', { negotiated: true, id: 0 });
    this.#channel.onopen = () => this.#last && this.tell(this.#last);
    this.#channel.onmessage = ({ data }) => {
      const told = readTold(data);
      if (told) host.told(told);
    };
  }

  get state(): RTCPeerConnectionState {
    return this.#pc.connectionState;
  }

  /** The text for `invite` and `rejoin`. Both kinds are in it from the start: a camera comes later without a new one. */
  async offer(audio?: MediaStreamTrack, video?: MediaStreamTrack): Promise<string> {
    this.offers = true;
    const streams = [new MediaStream()];
    this.#pc.addTransceiver(audio ?? 'audio', { direction: 'sendrecv', streams });
    this.#pc.addTransceiver(video ?? 'video', { direction: 'sendrecv', streams });
    this.#offer = await this.#pc.createOffer();
    return this.#offer.sdp ?? '';
  }

  /** The server has taken the offer and named its helpers: only now candidates are gathered. */
  async begin(ice: readonly IceServer[], relayOnly: boolean): Promise<void> {
    this.relayOnly = relayOnly;
    this.#pc.setConfiguration(this.#configured(ice));
    this.placed();
    this.#begun = this.#pc.setLocalDescription(this.#offer);
    await this.#begun;
  }

  /** To an offer, the first one or another. */
  async answer(sdp: string, audio?: MediaStreamTrack, video?: MediaStreamTrack): Promise<string> {
    await this.#take({ type: 'offer', sdp });
    const stream = new MediaStream();
    for (const transceiver of this.#pc.getTransceivers()) {
      if (transceiver.direction === 'sendrecv') continue;
      transceiver.direction = 'sendrecv';
      transceiver.sender.setStreams?.(stream);
      const track = transceiver.receiver.track.kind === 'audio' ? audio : video;
      if (track) await transceiver.sender.replaceTrack(track);
    }
    await this.#pc.setLocalDescription();
    return this.#pc.localDescription?.sdp ?? '';
  }

  async answered(sdp: string): Promise<void> {
    await this.#begun;
    if (this.#pc.signalingState !== 'have-local-offer') return;
    await this.#take({ type: 'answer', sdp });
  }

  async candidate(text: string): Promise<void> {
    const candidate = readCandidate(text);
    if (candidate === undefined) return;
    if (this.#pc.remoteDescription === null) this.#early.push(candidate);
    else await this.#pc.addIceCandidate(candidate).catch(ignored);
  }

  /** From now on one may say where one can be reached. */
  placed(): void {
    this.#placed = true;
    for (const text of this.#unsaid.splice(0)) this.host.say(text);
  }

  /** Another offer, because the way is lost: over whatever network there is now. */
  async again(): Promise<string> {
    const offer = await this.#pc.createOffer({ iceRestart: true });
    await this.#pc.setLocalDescription(offer);
    return offer.sdp ?? '';
  }

  /** Sends this from now on, or nothing of that kind. */
  async send(kind: 'audio' | 'video', track: MediaStreamTrack | undefined): Promise<void> {
    const sender = this.#pc.getTransceivers().find(one => one.receiver.track.kind === kind)?.sender;
    await sender?.replaceTrack(track ?? null);
    if (kind === 'video' && track && sender) await holdBack(sender, this.#limit);
  }

  /** Of pictures, from now on: at most so many lines, with so many bits. */
  async limit(limit: PictureLimit): Promise<void> {
    this.#limit = limit;
    const video = this.#pc.getTransceivers().find(one => one.receiver.track.kind === 'video')?.sender;
    if (video?.track) await holdBack(video, limit);
  }

  /** How loud the other one is at this moment, 0 to 1. */
  loudness(): number {
    const sources = this.#pc.getReceivers().flatMap(one => one.getSynchronizationSources?.() ?? []);
    return Math.max(0, ...sources.map(one => one.audioLevel ?? 0));
  }

  tell(told: Told): void {
    this.#last = told;
    if (this.#channel.readyState === 'open') this.#channel.send(JSON.stringify(told));
  }

  /** Undefined: the connection is no more. */
  async sample(at: number): Promise<Sample | undefined> {
    const report = await this.#pc.getStats().catch(() => undefined);
    // TypeScript does not know that the report can be gone through.
    return report && sampleOf((report as unknown as Map<string, { type: string; id: string }>).values(), at);
  }

  close(): void {
    this.#pc.onicecandidate = null;
    this.#pc.onconnectionstatechange = null;
    this.#pc.close();
  }

  #configured(ice: readonly IceServer[]): RTCConfiguration {
    return {
      iceServers: ice.map(one => ({ ...one })),
      iceTransportPolicy: this.relayOnly ? 'relay' : 'all',
      bundlePolicy: 'max-bundle',
    };
  }

  async #take(description: RTCSessionDescriptionInit): Promise<void> {
    await this.#pc.setRemoteDescription(description);
    for (const candidate of this.#early.splice(0)) await this.#pc.addIceCandidate(candidate).catch(ignored);
  }

  #say(text: string): void {
    if (this.#placed) this.host.say(text);
    else this.#unsaid.push(text);
  }
}

/** A window of 320 pixels needs no more, and a weak network is glad. */
const MOST_VIDEO_BITS = 1_200_000;

export interface PictureLimit {
  bits: number;
  /** Undefined: as the camera has it. */
  lines?: number;
}

async function holdBack(sender: RTCRtpSender, { bits, lines }: PictureLimit): Promise<void> {
  const parameters = sender.getParameters();
  const { height = 0 } = sender.track?.getSettings?.() ?? {};
  for (const encoding of parameters.encodings ?? []) {
    encoding.maxBitrate = bits;
    encoding.scaleResolutionDownBy = lines === undefined ? 1 : Math.max(1, height / lines);
  }
  await sender.setParameters(parameters).catch(ignored);
}

/** The server has named one who would carry it, so that neither hears where the other one is. */
export function canRelay({ ice }: { ice: readonly IceServer[] }): boolean {
  return ice.some(one => one.urls.some(url => url.startsWith('turn')));
}

/** The other side's browser may send anything. */
export function readCandidate(text: string): RTCIceCandidateInit | undefined {
  if (text === '') return undefined;
  try {
    const { candidate, sdpMid, sdpMLineIndex } = JSON.parse(text) as Record<string, unknown>;
    if (typeof candidate !== 'string') return undefined;
    return {
      candidate,
      ...(typeof sdpMid === 'string' && { sdpMid }),
      ...(typeof sdpMLineIndex === 'number' && { sdpMLineIndex }),
    };
  } catch {
    return undefined;
  }
}

export function readTold(data: unknown): Told | undefined {
  if (typeof data !== 'string' || data.length > 1_000) return undefined;
  try {
    const told = JSON.parse(data) as Record<string, unknown>;
    const is = (name: keyof Told) => told[name] === true;
    return { mic: is('mic'), camera: is('camera'), screen: is('screen'), weak: is('weak') };
  } catch {
    return undefined;
  }
}

/** Of many ways one that cannot be gone is no loss. */
const ignored = () => undefined;
