// One connection to the other user's browser: the order of offer, answer and candidates. It knows no server
// and no view.

import type { IceServer } from '@kith/client';
import { type Sample, sampleOf } from './network_quality.ts';

/** Two browsers that have not connected after this time will not connect. */
export const REACH_MS = 25_000;
/** A lost connection may recover by itself. After this time ICE is restarted. */
export const AGAIN_MS = 4_000;

/** State of a user's camera and microphone, which the other side receives. */
export interface Told {
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** The camera is off because the network is weak. */
  weak: boolean;
}

export interface PeerConnectionHost {
  /** Sends a candidate to the other side, which passes it to its `candidate`. */
  say(candidate: string): void;
  told(told: Told): void;
  /** Audio or video of the other side has arrived. */
  came(): void;
  changed(): void;
}

/** The side that made the first offer also makes all later ones, so that offers never cross. */
export class PeerConnection {
  /**
   * Audio and video of the other side. The streams are separate, because a shared stream stays silent until
   * the first picture arrives.
   */
  voice: MediaStream | undefined;
  picture: MediaStream | undefined;
  offers = false;
  /** The connection was established at least once. */
  reached = false;

  #pc: RTCPeerConnection;
  #channel: RTCDataChannel;
  /** Candidates can be sent only after the server has confirmed the place in the call. */
  #placed = false;
  #unsaid: string[] = [];
  /** Candidates that arrived before the remote description they belong to. */
  #early: RTCIceCandidateInit[] = [];
  #offer: RTCSessionDescriptionInit | undefined;
  /** The own offer is the local description. An answer that arrives earlier waits for this. */
  #begun: Promise<void> | undefined;
  #last: Told | undefined;
  #limit: PictureLimit = { bits: MOST_VIDEO_BITS };

  constructor(
    ice: readonly IceServer[],
    private relayOnly: boolean,
    private readonly host: PeerConnectionHost,
    private readonly bundlePolicy: RTCBundlePolicy = 'max-bundle',
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
    // Both sides create the channel, so that it needs no negotiation.
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

  /**
   * The SDP for `invite` and `rejoin`. It has audio and video from the start, so that a camera can be added
   * without a new offer.
   */
  async offer(audio?: MediaStreamTrack, video?: MediaStreamTrack): Promise<string> {
    this.offers = true;
    const streams = [new MediaStream()];
    this.#pc.addTransceiver(audio ?? 'audio', { direction: 'sendrecv', streams });
    this.#pc.addTransceiver(video ?? 'video', { direction: 'sendrecv', streams });
    this.#offer = await this.#pc.createOffer();
    return this.#offer.sdp ?? '';
  }

  /** The server has accepted the offer and sent its ICE servers. Only now are candidates gathered. */
  async begin(ice: readonly IceServer[], relayOnly: boolean): Promise<void> {
    this.relayOnly = relayOnly;
    this.#pc.setConfiguration(this.#configured(ice));
    this.placed();
    this.#begun = this.#pc.setLocalDescription(this.#offer);
    await this.#begun;
  }

  /** Answers an offer, the first one or a later one. */
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

  /** The place in the call is confirmed: sends the waiting candidates, and later ones immediately. */
  placed(): void {
    this.#placed = true;
    for (const text of this.#unsaid.splice(0)) this.host.say(text);
  }

  /** Another offer that restarts ICE over the current network, because the connection is lost. */
  async again(): Promise<string> {
    const offer = await this.#pc.createOffer({ iceRestart: true });
    await this.#pc.setLocalDescription(offer);
    return offer.sdp ?? '';
  }

  /** Replaces the track that is sent. Undefined: nothing of that kind is sent. */
  async send(kind: 'audio' | 'video', track: MediaStreamTrack | undefined): Promise<void> {
    const sender = this.#pc.getTransceivers().find(one => one.receiver.track.kind === kind)?.sender;
    await sender?.replaceTrack(track ?? null);
    if (kind === 'video' && track && sender) await holdBack(sender, this.#limit);
  }

  /** Limits the height and the bit rate of the video that is sent. */
  async limit(limit: PictureLimit): Promise<void> {
    this.#limit = limit;
    const video = this.#pc.getTransceivers().find(one => one.receiver.track.kind === 'video')?.sender;
    if (video?.track) await holdBack(video, limit);
  }

  /** The current loudness of the other side, 0 to 1. */
  loudness(): number {
    const sources = this.#pc.getReceivers().flatMap(one => one.getSynchronizationSources?.() ?? []);
    return Math.max(0, ...sources.map(one => one.audioLevel ?? 0));
  }

  tell(told: Told): void {
    this.#last = told;
    if (this.#channel.readyState === 'open') this.#channel.send(JSON.stringify(told));
  }

  /** Undefined if the connection is closed. */
  async sample(at: number): Promise<Sample | undefined> {
    const report = await this.#pc.getStats().catch(() => undefined);
    // TypeScript does not know that the report is iterable.
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
      bundlePolicy: this.bundlePolicy,
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

/** A window of 320 pixels needs no more, and a limit relieves a weak network. */
const MOST_VIDEO_BITS = 1_200_000;

export interface PictureLimit {
  bits: number;
  /** Undefined: the height of the camera's picture. */
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

/** The server has named a relay, so that neither side learns the IP address of the other. */
export function canRelay({ ice }: { ice: readonly IceServer[] }): boolean {
  return ice.some(one => one.urls.some(url => url.startsWith('turn')));
}

/** The input is not trusted: the other side's browser may send anything. */
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

/** One candidate or parameter that the browser refuses does not end the connection. */
const ignored = () => undefined;
