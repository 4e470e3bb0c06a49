// The call of a room in this tab: connects the events of the server, a connection to each participant, and
// the devices.

import type { Client, ConversationKey, Media, Participant } from '@kith/client';
import { GroupCalls, type RoomCall, type RoomSignal } from '@kith/client/group_calls';
import { hidesAddress } from '../calls/call_preferences.ts';
import { claim, forget, keep, remembered, type TabStorage } from '../calls/call_storage.ts';
import { LocalMedia } from '../calls/local_media.ts';
import { QualityMeter, SAMPLE_MS } from '../calls/network_quality.ts';
import { AGAIN_MS, canRelay, PeerConnection, REACH_MS, type Told } from '../calls/peer_connection.ts';
import { Timers } from '../calls/timers.ts';
import {
  type GroupCallView,
  type GroupEnd,
  groupBegun,
  groupEndOf,
  picturesFor,
  type Tile,
} from './group_call_view.ts';
import { idOfRoom } from './room_id.ts';

export interface GroupCallSessionHost {
  client: Pick<Client, 'ask' | 'on' | 'contact' | 'rich' | 'status' | 'subscribe'>;
  storage: TabStorage;
  now(): number;
}

const LISTEN_MS = 200;
/** The mark of a speaker stays visible during short pauses. */
const SPEAKS_MS = 700;
const LOUD = 0.02;

/** The connection to another participant. */
interface Peer {
  path: PeerConnection;
  meter: QualityMeter;
  theirs?: Told;
  late: boolean;
  /** The connection is too weak for the own video. */
  weak: boolean;
  spoke: number;
}

export class GroupCallSession {
  #shown: GroupCallView | undefined;
  #calls: GroupCalls;
  #own = new LocalMedia(what => (what === 'mic' ? this.setMic(false) : void this.#pictureChanged()));
  #peers = new Map<number, Peer>();
  #listeners = new Set<() => void>();
  /** Increases when earlier steps become obsolete. A step that began in an earlier turn stops. */
  #turn = 0;
  #timers = new Timers();
  #watching: ReturnType<typeof setInterval>[] = [];
  #leave: () => void;
  #wasOnline: boolean;

  constructor(private readonly host: GroupCallSessionHost) {
    const { client, storage } = host;
    this.#calls = new GroupCalls({
      client,
      storage,
      joined: (call, came) => this.#joined(call, came),
      changed: call => this.#changed(call),
      signal: signal => void this.#signal(signal).catch(error => console.error('kith: the call', error)),
    });
    this.#wasOnline = client.status().state === 'online';
    this.#leave = client.subscribe('status', () => this.#statusChanged());
  }

  shown(): GroupCallView | undefined {
    return this.#shown;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async join(room: ConversationKey, media: Media): Promise<void> {
    if (this.#shown && this.#shown.stage !== 'over') return;
    this.#begin(room, media, 'asking');
    const turn = this.#turn;
    if (!(await this.#openOwn(media, turn))) return;
    this.#set({ stage: 'joining' });
    await this.#enter(turn);
  }

  /**
   * Rejoins the call after a reload. Devices open later, because the server keeps the place in the call for
   * seconds only.
   */
  async comeBack(): Promise<void> {
    const { call } = this.#calls;
    if (call?.phase !== 'lost' || this.#shown) return;
    // A duplicated tab has the same place.
    if (!(await claim(`${call.id} ${call.place}`))) return this.#calls.forget();
    const { mic, camera } = remembered(this.host.storage);
    this.#begin(call.room, call.media, 'joining');
    const turn = this.#turn;
    if (this.#wasOnline) void this.#enter(turn);
    const problem = await this.#own.open('mic');
    if ((this.shown()?.stage ?? 'over') === 'over') return this.#own.closeAll();
    if (this.#own.mic) this.#own.mic.enabled = mic;
    this.#set({ mic: mic && problem === undefined, problem });
    await this.#toAll(path => path.send('audio', this.#own.mic));
    if (camera) await this.#reopen('camera');
    else this.#say();
  }

  hangUp(): void {
    void this.#calls.leave();
    this.close();
  }

  /** Removes the call from the screen, and closes its connections and devices. */
  close(): void {
    this.#end();
    this.#shown = undefined;
    this.#tell();
  }

  setMic(on: boolean): void {
    if (on && this.#own.mic === undefined) return void this.#reopen('mic');
    if (this.#own.mic) this.#own.mic.enabled = on;
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

  dismissProblem(): void {
    this.#set({ problem: undefined });
  }

  destroy(): void {
    this.#end();
    this.#calls.destroy();
    this.#leave();
    this.#listeners.clear();
  }

  // -- joining --

  async #enter(turn: number): Promise<void> {
    const { room, media } = this.#shown ?? {};
    if (room === undefined || media === undefined) return;
    try {
      await this.#calls.join(room, await idOfRoom(this.host.client, room), media);
    } catch (error) {
      const { code } = error as { code?: string };
      // While offline, `#statusChanged` tries again after the reconnect.
      const waits = code === 'offline' && this.#calls.call?.phase === 'lost';
      if (turn === this.#turn && !waits) this.#refuse(groupEndOf(code));
    }
  }

  #joined(call: RoomCall, came: readonly Participant[]): void {
    // The user hung up while the request to join was pending.
    if (this.#shown === undefined || this.#shown.stage === 'over') return void this.#calls.leave();
    if (hidesAddress() && !canRelay(call)) {
      void this.#calls.leave();
      return this.#refuse('noRelay');
    }
    for (const place of this.#peers.keys()) this.#drop(place);
    this.#set({ stage: 'in', since: call.since, most: call.most, place: call.place });
    void claim(`${call.id} ${call.place}`);
    this.#watch();
    this.#changed(call);
    for (const one of came) if (!one.away && !one.apart) void this.#offer(call, one.place);
    this.#say();
  }

  /** The joining client sends offers to all present ones. They send none, so offers never cross. */
  async #offer(call: RoomCall, place: number): Promise<void> {
    const relay = this.#relayOnly(call, place);
    const { path } = this.#connect(call, place, relay);
    const sdp = await path.offer(this.#own.mic, this.#sent(place));
    if (this.#peers.get(place)?.path !== path) return;
    // Send the offer before its candidates.
    void this.#calls.say('offer', place, sdp).catch(() => undefined);
    await path.begin(call.ice, relay);
    await path.limit(picturesFor(this.#others()));
  }

  #statusChanged(): void {
    const online = this.host.client.status().state === 'online';
    const again = online && !this.#wasOnline;
    this.#wasOnline = online;
    const phase = this.#calls.call?.phase;
    // After a reconnect the client has a new session, which takes the place of the previous one.
    if (again && this.#shown && (phase === 'in' || phase === 'lost')) void this.#enter(this.#turn);
  }

  // -- events of the server --

  #changed(call: RoomCall): void {
    if (this.#shown === undefined || call.room !== this.#shown.room) return;
    if (call.phase === 'out') {
      if (call.end !== undefined && call.end !== 'left') this.#refuse(call.end);
      return;
    }
    const others = this.#others();
    for (const place of this.#peers.keys()) {
      const one = call.here.find(who => who.place === place);
      // A participant who has lost the server keeps the connection, because audio may still flow.
      if (one === undefined || one.apart) this.#drop(place);
    }
    this.#draw();
    if (others !== this.#others()) void this.#toAll(path => path.limit(picturesFor(this.#others())));
  }

  async #signal(signal: RoomSignal): Promise<void> {
    const { call } = this.#calls;
    const { from, what } = signal;
    const known = this.#peers.get(from);
    if (what === 'answer') return known?.path.answered(signal.sdp);
    if (what === 'candidate') return known?.path.candidate(signal.candidate);
    if (call === undefined || !call.here.some(one => one.place === from)) return;
    // The first offer starts the connection. A later offer changes it.
    if (known) {
      await this.#calls.say('answer', from, await known.path.answer(signal.sdp));
      return;
    }
    const { path } = this.#connect(call, from, this.#relayOnly(call, from));
    const answer = await path.answer(signal.sdp, this.#own.mic, this.#sent(from));
    if (this.#peers.get(from)?.path !== path) return;
    await this.#calls.say('answer', from, answer);
    path.placed();
    await path.limit(picturesFor(this.#others()));
  }

  // -- connections --

  #connect(call: RoomCall, place: number, relayOnly: boolean): Peer {
    const path: PeerConnection = new PeerConnection(call.ice, relayOnly, {
      say: candidate => void this.#calls.candidate(place, candidate).catch(() => undefined),
      told: theirs => {
        peer.theirs = theirs;
        this.#draw();
      },
      came: () => this.#draw(),
      changed: () => this.#pathChanged(place, peer),
    });
    const peer: Peer = { path, meter: new QualityMeter(), late: false, weak: false, spoke: 0 };
    this.#peers.set(place, peer);
    path.tell(this.#told(peer));
    this.#expect(place, peer);
    this.#draw();
    return peer;
  }

  #drop(place: number): void {
    this.#peers.get(place)?.path.close();
    this.#peers.delete(place);
  }

  #pathChanged(place: number, peer: Peer): void {
    const { state } = peer.path;
    if (state === 'connected') peer.late = false;
    if (state === 'failed') void this.#again(place, peer);
    if (state === 'disconnected') this.#timers.after(AGAIN_MS, () => void this.#again(place, peer));
    if (state === 'failed' || state === 'disconnected') this.#expect(place, peer);
    this.#draw();
  }

  #expect(place: number, peer: Peer): void {
    this.#timers.after(REACH_MS, () => {
      if (this.#peers.get(place) !== peer || peer.path.state === 'connected') return;
      peer.late = true;
      this.#draw();
    });
  }

  /** The side that made the first offer makes another one, over the current network. */
  async #again(place: number, peer: Peer): Promise<void> {
    const { path } = peer;
    if (this.#peers.get(place) !== peer || !path.offers || path.state === 'connected') return;
    const offer = await path.again().catch(() => undefined);
    if (offer) await this.#calls.say('offer', place, offer).catch(() => undefined);
  }

  /** Samples each connection periodically, and sends no video while a connection is too weak for it. */
  #watch(): void {
    if (this.#watching.length > 0) return;
    const look = async () => {
      for (const [place, peer] of this.#peers) {
        const sample = await peer.path.sample(this.host.now());
        if (sample === undefined || this.#peers.get(place) !== peer) continue;
        const { weak } = peer.meter.take(sample, this.#sent(place) !== undefined);
        if (weak === peer.weak) continue;
        peer.weak = weak;
        await peer.path.send('video', this.#sent(place)).catch(() => undefined);
        peer.path.tell(this.#told(peer));
      }
    };
    const listen = () => {
      const now = this.host.now();
      for (const peer of this.#peers.values()) if (peer.path.loudness() > LOUD) peer.spoke = now;
      this.#draw();
    };
    this.#watching = [setInterval(() => void look(), SAMPLE_MS), setInterval(listen, LISTEN_MS)];
  }

  #relayOnly(call: RoomCall, place: number): boolean {
    const user = call.here.find(one => one.place === place)?.user ?? '';
    return hidesAddress() || (this.host.client.contact(user) !== 'contact' && canRelay(call));
  }

  #others(): number {
    return this.#shown?.tiles.length ?? 0;
  }

  // -- devices --

  /** The microphone is required. Without a camera only audio is sent. */
  async #openOwn(media: Media, turn: number): Promise<boolean> {
    const problem = this.#own.mic ? undefined : await this.#own.open('mic');
    const dark = media === 'video' && !problem ? await this.#own.open('camera') : undefined;
    if (turn !== this.#turn) {
      if ((this.#shown?.stage ?? 'over') === 'over') this.#own.closeAll();
      return false;
    }
    const mic = this.#own.mic !== undefined;
    const camera = this.#own.camera !== undefined;
    this.#set({ mic, camera, own: this.#own.picture, problem: problem ?? dark });
    return problem === undefined;
  }

  async #reopen(what: 'mic' | 'camera', deviceId?: string): Promise<void> {
    const wasOn = this.#own.mic?.enabled ?? true;
    const problem = await this.#own.open(what, deviceId);
    if ((this.#shown?.stage ?? 'over') === 'over') return this.#own.closeAll();
    this.#set({ problem });
    if (what === 'camera') return this.#pictureChanged();
    if (this.#own.mic) this.#own.mic.enabled = wasOn;
    await this.#toAll(path => path.send('audio', this.#own.mic));
    this.#set({ mic: this.#own.mic?.enabled ?? false });
    this.#say();
  }

  /** The track that is currently sent as video. */
  #sent(place: number): MediaStreamTrack | undefined {
    return this.#peers.get(place)?.weak ? undefined : this.#own.picture;
  }

  async #pictureChanged(): Promise<void> {
    const camera = this.#own.camera !== undefined;
    this.#set({ camera, screen: this.#own.screen !== undefined, own: this.#own.picture });
    await this.#toAll((path, place) => path.send('video', this.#sent(place)));
    this.#say();
  }

  async #toAll(does: (path: PeerConnection, place: number) => Promise<void>): Promise<void> {
    const all = Array.from(this.#peers, ([place, { path }]) => does(path, place));
    await Promise.allSettled(all);
  }

  /** Sends the state of the devices to the other participants, and stores it for a reload. */
  #say(): void {
    for (const peer of this.#peers.values()) peer.path.tell(this.#told(peer));
    const { mic = false, camera = false, stage } = this.#shown ?? {};
    if (stage === 'in') keep(this.host.storage, { mic, camera });
  }

  #told({ weak }: Pick<Peer, 'weak'>): Told {
    const { mic = false, camera = false, screen = false } = this.#shown ?? {};
    return { mic, camera: camera && !weak, screen: screen && !weak, weak };
  }

  // -- view state --

  #draw(): void {
    const { call } = this.#calls;
    if (this.#shown?.stage !== 'in' || call === undefined) return;
    const before = this.#shown.tiles;
    const tiles = call.here.map((one): Tile => {
      const next = this.#tile(one);
      const same = before.find(tile => tile.place === next.place);
      return same && equal(same, next) ? same : next;
    });
    const same = tiles.length === before.length && tiles.every((tile, at) => tile === before[at]);
    if (!same) this.#set({ tiles });
  }

  #tile({ user, place, away, apart }: Participant): Tile {
    const peer = this.#peers.get(place);
    const connected = peer?.path.state === 'connected';
    const state = apart
      ? 'apart'
      : connected
        ? 'connected'
        : away
          ? 'away'
          : peer?.late
            ? 'unreachable'
            : 'connecting';
    const { theirs, path } = peer ?? {};
    return {
      user,
      place,
      state,
      speaking: connected && peer !== undefined && this.host.now() - peer.spoke < SPEAKS_MS,
      ...(theirs && { theirs }),
      ...(path?.voice && { voice: path.voice }),
      ...(path?.picture && { picture: path.picture }),
    };
  }

  // -- ending --

  /** Ends the call in this tab with a reason. */
  #refuse(end: GroupEnd): void {
    this.#end();
    if (this.#shown === undefined) return;
    this.#set({ stage: 'over', end, tiles: [], problem: undefined, own: undefined });
  }

  #begin(room: ConversationKey, media: Media, stage: GroupCallView['stage']): void {
    this.#end();
    this.#shown = groupBegun(room, media, stage, hidesAddress());
    this.#tell();
  }

  #end(): void {
    this.#turn += 1;
    for (const place of Array.from(this.#peers.keys())) this.#drop(place);
    this.#own.closeAll();
    for (const timer of this.#watching.splice(0)) clearInterval(timer);
    this.#timers.clear();
    forget(this.host.storage);
  }

  #set(change: { [K in keyof GroupCallView]?: GroupCallView[K] | undefined }): void {
    if (this.#shown === undefined) return;
    this.#shown = { ...this.#shown, ...change } as GroupCallView;
    this.#tell();
  }

  #tell(): void {
    for (const listener of Array.from(this.#listeners)) listener();
  }
}

function equal(one: Tile, other: Tile): boolean {
  const names = ['state', 'speaking', 'theirs', 'voice', 'picture'] as const;
  return names.every(name => one[name] === other[name]);
}
