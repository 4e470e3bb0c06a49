// The call of this tab from start to end: connects the events of the server, the peer connection and the devices.

import type { CallEvent, Client, Media } from '@kith/client';
import { type Call, Calls, type Signal } from '@kith/client/calls';
import type { CallRequest } from '@kith/loader/stage';
import { hidesAddress } from './call_preferences.ts';
import { claim, forget, keep, remembered, type TabStorage } from './call_storage.ts';
import { begun, type CallView, type End, endOf, endsQuickly } from './call_view.ts';
import { LocalMedia } from './local_media.ts';
import { QualityMeter, SAMPLE_MS } from './network_quality.ts';
import { AGAIN_MS, canRelay, PeerConnection, type PeerConnectionHost, REACH_MS } from './peer_connection.ts';
import { Timers } from './timers.ts';

export interface CallSessionHost {
  client: Pick<Client, 'call' | 'contact' | 'status' | 'subscribe'>;
  storage: TabStorage;
  now(): number;
}

/** Rings at most this long: a client whose connection was lost gets no event when the ringing ends. */
const RINGS_MS = 50_000;
/** The text about the end of the call stays visible for this long. */
const READ_MS = 6_000;

export class CallSession {
  #shown: CallView | undefined;
  #calls: Calls;
  #own = new LocalMedia(what => (what === 'mic' ? this.setMic(false) : void this.#pictureChanged()));
  #path: PeerConnection | undefined;
  #meter = new QualityMeter();
  #listeners = new Set<() => void>();
  #hear: ((event: CallEvent) => void) | undefined;
  /** Increases when earlier steps become obsolete. A step that began in an earlier turn stops. */
  #turn = 0;
  #timers = new Timers();
  #sampling: ReturnType<typeof setInterval> | undefined;
  #leave: () => void;
  #wasOnline: boolean;

  constructor(private readonly host: CallSessionHost) {
    const { client, storage } = host;
    this.#calls = new Calls({
      client: {
        call: action => client.call(action),
        // Events arrive through `do`, including those from before this session existed.
        on: (_, listener) => {
          this.#hear = listener as (event: CallEvent) => void;
          return () => undefined;
        },
      },
      storage,
      changed: call => this.#changed(call),
      signal: signal => void this.#signal(signal).catch(error => this.#broken(error)),
    });
    this.#wasOnline = client.status().state === 'online';
    this.#leave = client.subscribe('status', () => this.#statusChanged());
  }

  shown(): CallView | undefined {
    return this.#shown;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  do(request: CallRequest): void {
    if (request.do === 'hear') this.#hear?.(request.event);
    else if (request.do === 'call') void this.#call(request.user, request.media);
    else if (request.do === 'rejoin') void this.#comeBack();
  }

  async accept(media: Media): Promise<void> {
    const { call } = this.#calls;
    if (call?.phase !== 'ringing') return;
    const turn = ++this.#turn;
    this.#set({ stage: 'asking', problem: undefined });
    if (!(await this.#openOwn(media, turn))) {
      // The call still rings, and the user may try again.
      if (turn === this.#turn && this.#calls.offer) this.#set({ stage: 'ringing' });
      return;
    }
    const relay = this.#relayOnly(call);
    if (relay === 'missing') return this.#refuse('noRelay');
    try {
      // Use the newest offer: the caller may have reconnected with another one meanwhile.
      const offer = this.#calls.offer?.sdp ?? '';
      const path = this.#connect(call, relay, offer === '');
      // An app sends its offer once the call is accepted.
      const answer = offer && (await path.answer(offer, this.#own.mic, this.#sent()));
      if (turn !== this.#turn) return;
      await this.#calls.accept(answer);
      path.placed();
    } catch (error) {
      this.#failed(error, turn);
    }
  }

  decline(): void {
    void this.#calls.decline().catch(() => undefined);
    this.close();
  }

  hangUp(): void {
    const { stage } = this.#shown ?? {};
    if (stage === 'ringing') return this.decline();
    const { call } = this.#calls;
    const none = call === undefined || call.phase === 'over';
    if (!none) void this.#calls.hangUp();
    if (none || stage === 'asking') this.close();
  }

  /** Removes the call from the screen, and closes its connection and devices. */
  close(): void {
    this.#end();
    this.#shown = undefined;
    this.#tell();
  }

  setMic(on: boolean): void {
    if (on && this.#own.mic === undefined) return void this.#reopen('mic');
    if (this.#own.mic) this.#own.mic.enabled = on && !this.#shown?.holding;
    this.#set({ mic: on });
    this.#say();
  }

  async setCamera(on: boolean, deviceId?: string): Promise<void> {
    if (on) return this.#reopen('camera', deviceId);
    this.#own.close('camera');
    await this.#pictureChanged();
  }

  async setScreen(on: boolean): Promise<void> {
    if (on) {
      const problem = await this.#own.openScreen();
      // Closing the browser's dialog is no error: the user changed their mind.
      if (problem && problem.why !== 'denied') this.#set({ problem });
    } else this.#own.close('screen');
    await this.#pictureChanged();
  }

  async switchDevice(what: 'mic' | 'camera', deviceId: string): Promise<void> {
    if (what === 'mic' || this.#own.camera) await this.#reopen(what, deviceId);
  }

  /** During a hold, the own audio and video are not sent, and those of the other side are not played. */
  async hold(on: boolean): Promise<void> {
    this.#set({ holding: on });
    if (this.#own.mic) this.#own.mic.enabled = !on && this.#shown?.mic === true;
    await this.#pictureChanged();
    await this.#calls.hold(on).catch(() => undefined);
  }

  dismissProblem(): void {
    this.#set({ problem: undefined });
  }

  destroy(): void {
    this.#end();
    this.#calls.destroy();
    this.#leave();
    this.#listeners.clear();
  }

  // -- beginning --

  async #call(user: string, media: Media): Promise<void> {
    const { stage = 'over', user: now } = this.#shown ?? {};
    if (stage === 'ringing' && now === user) return this.accept(media);
    if (stage !== 'over') return;
    this.#begin(user, media, 'asking');
    const turn = this.#turn;
    if (!(await this.#openOwn(media, turn))) return;
    try {
      const path = this.#connect(undefined, hidesAddress());
      const sdp = await path.offer(this.#own.mic, this.#sent());
      if (turn !== this.#turn) return;
      await this.#calls.invite(user, media, sdp);
      const { call } = this.#calls;
      if (turn !== this.#turn) return void this.#calls.hangUp();
      // Both users have called each other, and the other call was first.
      if (call?.phase === 'ringing') return await this.accept(media);
      if (call?.phase !== 'calling') return;
      void claim(call.id);
      const relay = this.#relayOnly(call);
      if (relay === 'missing') return this.#refuse('noRelay');
      this.#set({ hidden: relay });
      await path.begin(call.ice, relay);
    } catch (error) {
      this.#failed(error, turn);
    }
  }

  /**
   * Rejoins the call after a reload. Devices open later, because the server keeps the place in the call for
   * seconds only.
   */
  async #comeBack(): Promise<void> {
    const { call } = this.#calls;
    if (call?.phase !== 'lost' || this.#shown) return;
    if (!(await claim(call.id))) return this.#calls.forget();
    const { mic, camera } = remembered(this.host.storage);
    this.#begin(call.user, call.media, 'back');
    if (this.#wasOnline) void this.#rejoin();
    const problem = await this.#own.open('mic');
    if ((this.shown()?.stage ?? 'over') === 'over') return this.#own.closeAll();
    if (this.#own.mic) this.#own.mic.enabled = mic;
    this.#set({ mic: mic && problem === undefined, problem });
    await this.#path?.send('audio', this.#own.mic);
    if (camera) await this.#reopen('camera');
    else this.#say();
  }

  /** Rejoins the call with an offer for a new connection. */
  async #rejoin(): Promise<void> {
    const turn = ++this.#turn;
    const { call } = this.#calls;
    if (call === undefined) return;
    try {
      const path = this.#connect(call, this.#shown?.hidden ?? hidesAddress());
      const sdp = await path.offer(this.#own.mic, this.#sent());
      if (turn !== this.#turn) return;
      await this.#calls.rejoin(sdp);
      const now = this.#calls.call;
      if (turn !== this.#turn || now === undefined || now.phase === 'over') return;
      const relay = this.#relayOnly(now) !== false;
      this.#set({ hidden: relay });
      await path.begin(now.ice, relay);
      // A rejoined call is not on hold on the server.
      if (this.#shown?.holding) await this.hold(true);
    } catch (error) {
      // While offline, `#statusChanged` tries again after the reconnect.
      if ((error as { code?: string }).code !== 'offline') this.#failed(error, turn);
    }
  }

  #statusChanged(): void {
    const online = this.host.client.status().state === 'online';
    const again = online && !this.#wasOnline;
    this.#wasOnline = online;
    const phase = this.#calls.call?.phase;
    // After a reconnect the client has a new session. Its ticket takes the place in the call.
    if (again && this.#shown && (phase === 'up' || phase === 'calling' || phase === 'lost'))
      void this.#rejoin();
  }

  // -- events of the server --

  #changed(call: Call): void {
    const { stage = 'over', user } = this.#shown ?? {};
    switch (call.phase) {
      case 'ringing': {
        // If both users call at the same time, `#call` accepts this call after its own invitation.
        if (stage !== 'over') return;
        this.#begin(call.user, call.media, 'ringing');
        this.#timers.after(RINGS_MS, () => this.#shown?.stage === 'ringing' && this.#calls.forget());
        const exposed = this.#isStranger(call) && !canRelay(call) && !hidesAddress();
        return this.#set({ exposed });
      }
      case 'calling':
        return this.#set({ stage: 'calling' });
      case 'up':
        void claim(call.id);
        if (stage !== 'up') this.#expect(this.#path);
        return this.#set({
          stage: 'up',
          away: call.away,
          held: call.held,
          since: this.#shown?.since ?? this.host.now() - (call.acceptedMs ?? 0),
        });
      case 'over':
        if (stage === 'over' || user !== call.user) return;
        // A call that the user has cancelled, or that rings elsewhere, needs no text about its end.
        if (stage === 'ringing' || call.outcome === 'cancelled') return this.close();
        return this.#refuse(call.outcome ?? 'elsewhere', call.ms);
    }
  }

  async #signal(signal: Signal): Promise<void> {
    const { call } = this.#calls;
    switch (signal.what) {
      case 'answer':
        return this.#path?.answered(signal.sdp);
      case 'candidate':
        return this.#path?.candidate(signal.candidate);
      case 'offer': {
        const answer = await this.#path?.answer(signal.sdp, this.#own.mic, this.#sent());
        if (answer) await this.#calls.say('answer', answer);
        return;
      }
      case 'back': {
        const turn = ++this.#turn;
        const path = this.#connect(call, this.#shown?.hidden ?? hidesAddress());
        const answer = await path.answer(signal.sdp, this.#own.mic, this.#sent());
        if (turn !== this.#turn) return;
        await this.#calls.say('answer', answer);
        path.placed();
      }
    }
  }

  // -- the connection --

  /** `ofApp`: the offer of an app will follow. Some apps need a transport for each kind of media. */
  #connect(call: Call | undefined, relayOnly: boolean, ofApp = false): PeerConnection {
    this.#path?.close();
    const host: PeerConnectionHost = {
      say: candidate => void this.#calls.candidate(candidate).catch(() => undefined),
      told: theirs => this.#path === path && this.#set({ theirs }),
      came: () => this.#path === path && this.#set({ voice: path.voice, picture: path.picture }),
      changed: () => this.#path === path && this.#pathChanged(path),
    };
    const path = new PeerConnection(call?.ice ?? [], relayOnly, host, ofApp ? 'balanced' : 'max-bundle');
    this.#path = path;
    this.#set({ connected: false, hidden: relayOnly, voice: undefined, picture: undefined });
    this.#say();
    if (this.#shown?.stage === 'up') this.#expect(path);
    return path;
  }

  /** Both users are in the call. Their browsers must connect within `REACH_MS`. */
  #expect(path: PeerConnection | undefined): void {
    if (path) this.#timers.after(REACH_MS, () => path.reached || this.#unlessReached(path, 'unreachable'));
  }

  #pathChanged(path: PeerConnection): void {
    const connected = path.state === 'connected';
    this.#set({ connected });
    if (connected) return this.#watch();
    if (path.state === 'failed') void this.#again(path);
    if (path.state === 'disconnected') this.#timers.after(AGAIN_MS, () => void this.#again(path));
    if (path.state === 'connecting') return;
    this.#timers.after(REACH_MS, () => this.#unlessReached(path, 'lost'));
  }

  /** The side that made the first offer makes another one, over the current network. */
  async #again(path: PeerConnection): Promise<void> {
    if (this.#path !== path || !path.offers || this.#shown?.stage !== 'up' || path.state === 'connected')
      return;
    const offer = await path.again().catch(() => undefined);
    if (offer) await this.#calls.say('offer', offer).catch(() => undefined);
  }

  #unlessReached(path: PeerConnection, end: End): void {
    const { stage, away } = this.#shown ?? {};
    if (this.#path === path && stage === 'up' && !away && path.state !== 'connected') this.#refuse(end);
  }

  /** Samples the network periodically, and sends no video while the network is too weak for it. */
  #watch(): void {
    const look = async () => {
      const path = this.#path;
      const sample = await path?.sample(this.host.now());
      if (sample === undefined || this.#path !== path || this.#shown?.stage !== 'up') return;
      const quality = this.#meter.take(sample, this.#sent() !== undefined);
      const weak = quality.weak && this.#own.camera !== undefined && this.#own.screen === undefined;
      const changes = weak !== this.#shown.weak;
      this.#set({ quality, weak });
      if (changes) await this.#pictureChanged();
    };
    this.#sampling ??= setInterval(() => void look(), SAMPLE_MS);
    void look();
  }

  /** `missing`: the user allows no direct connection, and the server has no relay. */
  #relayOnly(call: Call): boolean | 'missing' {
    if (hidesAddress()) return canRelay(call) || 'missing';
    return this.#isStranger(call) && canRelay(call);
  }

  #isStranger(call: Call): boolean {
    return this.host.client.contact(call.user) !== 'contact';
  }

  // -- devices --

  /** The microphone is required. Without a camera the call has audio only. */
  async #openOwn(media: Media, turn: number): Promise<boolean> {
    const problem = this.#own.mic ? undefined : await this.#own.open('mic');
    const wanted = media === 'video' && !problem && !this.#own.camera;
    const dark = wanted ? await this.#own.open('camera') : undefined;
    if (turn !== this.#turn) {
      const { stage = 'over' } = this.#shown ?? {};
      if (stage === 'over' || stage === 'ringing') this.#own.closeAll();
      return false;
    }
    this.#set({
      mic: this.#own.mic !== undefined,
      camera: this.#own.camera !== undefined,
      own: this.#own.picture,
      problem: problem ?? dark,
    });
    return problem === undefined;
  }

  async #reopen(what: 'mic' | 'camera', deviceId?: string): Promise<void> {
    const wasOn = this.#own.mic?.enabled ?? true;
    const problem = await this.#own.open(what, deviceId);
    const { stage = 'over' } = this.#shown ?? {};
    if (stage === 'over') return this.#own.closeAll();
    this.#set({ problem });
    if (what === 'camera') return this.#pictureChanged();
    if (this.#own.mic) this.#own.mic.enabled = wasOn;
    await this.#path?.send('audio', this.#own.mic);
    this.#set({ mic: this.#own.mic?.enabled ?? false });
    this.#say();
  }

  /** The track that is currently sent as video. */
  #sent(): MediaStreamTrack | undefined {
    return this.#shown?.weak || this.#shown?.holding ? undefined : this.#own.picture;
  }

  async #pictureChanged(): Promise<void> {
    const camera = this.#own.camera !== undefined;
    const screen = this.#own.screen !== undefined;
    this.#set({ camera, screen, own: this.#own.picture, ...(!camera && { weak: false }) });
    await this.#path?.send('video', this.#sent()).catch(() => undefined);
    this.#say();
  }

  /** Sends the state of the devices to the other side, and stores it for a reload. */
  #say(): void {
    const { mic = false, camera = false, screen = false, weak = false, holding } = this.#shown ?? {};
    const shows = !holding;
    this.#path?.tell({ mic, camera: shows && camera && !weak, screen: shows && screen, weak });
    const phase = this.#calls.call?.phase;
    if (phase === 'up' || phase === 'calling') keep(this.host.storage, { mic, camera });
  }

  // -- ending --

  #failed(error: unknown, turn: number): void {
    // The server may have sent the end of the call already.
    if (turn !== this.#turn || this.#shown?.stage === 'over') return;
    const { code } = error as { code?: string };
    if (code === undefined) this.#broken(error);
    else this.#refuse(endOf(code));
  }

  #broken(error: unknown): void {
    console.error('kith: the call', error);
    this.#refuse('failed');
  }

  /** Ends the call with a reason. */
  #refuse(end: End, ms?: number): void {
    this.#end();
    if (this.#shown === undefined) return;
    this.#set({ stage: 'over', end, ms, connected: false, away: false, problem: undefined, own: undefined });
    if (this.#calls.call && this.#calls.call.phase !== 'over') void this.#calls.hangUp();
    if (endsQuickly(end)) this.#timers.after(READ_MS, () => this.close());
  }

  #begin(user: string, media: Media, stage: CallView['stage']): void {
    this.#end();
    this.#meter = new QualityMeter();
    this.#shown = begun(user, media, stage, hidesAddress());
    this.#tell();
  }

  #end(): void {
    this.#turn += 1;
    this.#path?.close();
    this.#path = undefined;
    this.#own.closeAll();
    clearInterval(this.#sampling);
    this.#sampling = undefined;
    this.#timers.clear();
    forget(this.host.storage);
  }

  #set(change: { [K in keyof CallView]?: CallView[K] | undefined }): void {
    if (this.#shown === undefined) return;
    this.#shown = { ...this.#shown, ...change } as CallView;
    this.#tell();
  }

  #tell(): void {
    for (const listener of Array.from(this.#listeners)) listener();
  }
}
