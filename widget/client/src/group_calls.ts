// The call of a room in which this tab takes part: its participants and the signals of their connections. The code is
// fetched with the first such call. It handles no media and draws nothing.

import { type Client, type ConversationKey, type GroupCallEvent, RequestError } from './client.ts';
import { KEY, keptRoom } from './stored_group_call.ts';
import type { Event, GroupAction, IceServer, Media, Participant } from './wire.ts';

/** The drawn state of a room's call. A new object after each change. */
export interface RoomCall {
  room: ConversationKey;
  /** The server's id of the room. */
  id: string;
  media: Media;
  /** `lost`: after a reload, or without a connection, until `join` has worked. */
  phase: 'joining' | 'in' | 'lost' | 'out';
  /** The place of this tab in the call. */
  place: number;
  /** Unix milliseconds. */
  since: number;
  /** The maximum number of participants. */
  most: number;
  /** The other participants, in the order in which they joined. */
  here: readonly Participant[];
  /** The ICE servers for `RTCPeerConnection`. */
  ice: readonly IceServer[];
  /** The reason why this tab is no longer in the call. */
  end?: 'left' | 'taken_out' | 'elsewhere';
}

export type RoomSignal =
  | { what: 'offer' | 'answer'; from: number; sdp: string }
  | { what: 'candidate'; from: number; candidate: string };

export interface GroupCallsHost {
  client: Pick<Client, 'ask' | 'on'>;
  /** Storage of this tab that survives a reload: `sessionStorage`. */
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  /** `came`: participants to whom this tab must offer a connection. */
  joined(call: RoomCall, came: readonly Participant[]): void;
  changed(call: RoomCall): void;
  signal(signal: RoomSignal): void;
}

export class GroupCalls {
  #call: RoomCall | undefined;
  #leaving = false;
  #off: () => void;

  constructor(private readonly host: GroupCallsHost) {
    this.#off = host.client.on('group_call', event => this.#heard(event));
    const kept = keptRoom(host.storage);
    if (kept) this.#call = { ...kept, phase: 'lost', since: 0, most: 0, here: [], ice: [] };
  }

  get call(): RoomCall | undefined {
    return this.#call;
  }

  /** Joins the call of a room, or rejoins it. */
  async join(room: ConversationKey, id: string, media: Media): Promise<void> {
    const before = this.#call?.id === id && this.#call.phase !== 'out' ? this.#call : undefined;
    const fresh = { room, id, media, place: 0, since: 0, most: 0, here: [], ice: [] };
    this.#leaving = false;
    this.#set({ ...(before ?? fresh), phase: 'joining' });
    try {
      // `#heard` gets the answers before this promise resolves, in their order among all other events.
      await this.#say({ action: 'join', media });
    } catch (error) {
      const code = error instanceof RequestError ? error.code : undefined;
      if (this.#call?.phase === 'joining')
        this.#set({ ...this.#call, phase: code === 'offline' && before ? 'lost' : 'out' });
      if (this.#call?.phase === 'out') this.#forget();
      throw error;
    }
  }

  async leave(): Promise<void> {
    const { call } = this;
    if (call === undefined || call.phase === 'out') return;
    this.#leaving = true;
    // The call is over in this tab in any case. The server removes a participant who does not come back.
    const said = this.#say({ action: 'leave' }).catch(() => undefined);
    this.#end('left');
    await said;
  }

  async say(what: 'offer' | 'answer', to: number, sdp: string): Promise<void> {
    await this.#say({ action: what, to, sdp });
  }

  async candidate(to: number, candidate: string): Promise<void> {
    await this.#say({ action: 'candidate', to, candidate });
  }

  /** Ends the call in this tab only. */
  forget(): void {
    this.#end('elsewhere');
  }

  destroy(): void {
    this.#off();
  }

  async #say(action: GroupAction): Promise<Event> {
    if (this.#call === undefined) throw new Error('no call');
    return this.host.client.ask({ t: 'group_call', conversation: this.#call.id, ...action });
  }

  /** Applies a `group_call` event. Every tab gets all of them, also the answers to other tabs. */
  #heard(event: GroupCallEvent): void {
    const call = this.#call;
    if (call === undefined || call.phase === 'out' || call.id !== event.conversation) return;
    if (event.news === 'joined') return this.#joined(call, event);
    if (call.phase !== 'in') return;
    const without = (place: number) => call.here.filter(one => one.place !== place);
    const change = (place: number, how: Partial<Participant>) =>
      call.here.map(one => (one.place === place ? { ...one, ...how } : one));
    switch (event.news) {
      case 'came': {
        const { user, place, away, apart } = event;
        const who = { user, place, ...(away && { away }), ...(apart && { apart }) };
        return this.#set({ ...call, here: [...call.here.filter(one => one.user !== user), who] });
      }
      case 'went':
        return this.#set({ ...call, here: without(event.place) });
      case 'away':
        return this.#set({ ...call, here: change(event.place, { away: true }) });
      case 'apart':
        return this.#set({ ...call, here: change(event.place, { apart: true }) });
      case 'offer':
      case 'answer':
        return this.host.signal({ what: event.news, from: event.from, sdp: event.sdp });
      case 'candidate':
        return this.host.signal({ what: 'candidate', from: event.from, candidate: event.candidate });
      case 'elsewhere':
        return this.#end('elsewhere');
      case 'left':
        if (!this.#leaving) this.#end('taken_out');
    }
  }

  #joined(call: RoomCall, event: GroupCallEvent & { news: 'joined' }): void {
    // Another tab of this browser has the call now.
    if (call.phase === 'in') return this.#end('elsewhere');
    if (call.phase !== 'joining') return;
    const { place, media, since, most, here, ice = [] } = event;
    const { room, id } = call;
    this.host.storage?.setItem(KEY, JSON.stringify({ room, id, media, place }));
    this.#call = { room, id, media, phase: 'in', place, since, most, here, ice };
    this.host.joined(this.#call, here);
  }

  #end(end: NonNullable<RoomCall['end']>): void {
    if (this.#call === undefined || this.#call.phase === 'out') return;
    this.#forget();
    this.#set({ ...this.#call, phase: 'out', here: [], end });
  }

  #forget(): void {
    this.host.storage?.removeItem(KEY);
  }

  #set(call: RoomCall): void {
    this.#call = call;
    this.host.changed(call);
  }
}
