// The call of this tab: its state, its commands, and the return to it after a reload. The code is fetched with the
// first call. It handles no media and draws nothing.

import { type CallEvent, type Client, RequestError } from './client.ts';
import type { CallAction, CallOutcome, IceServer, Media } from './wire.ts';

/** The drawn state of a call. A new object after each change. */
export interface Call {
  id: string;
  /** The other user. */
  user: string;
  media: Media;
  /** `ringing`: an incoming call rings in this tab. `lost`: after a reload, until `rejoin` has worked. */
  phase: 'calling' | 'ringing' | 'up' | 'lost' | 'over';
  /** The other user holds the call (`held`), or has lost the connection to the server (`away`). */
  held: boolean;
  away: boolean;
  /** The ICE servers for `RTCPeerConnection`. */
  ice: readonly IceServer[];
  /** Set by `rejoin`: the milliseconds since the call was accepted. */
  acceptedMs?: number;
  /** Set when the call is over. Undefined: another device or tab has the call. */
  outcome?: CallOutcome;
  ms?: number;
}

/** Signals of the other side's connection. */
export type Signal =
  | { what: 'offer' | 'answer'; sdp: string }
  /** Begin a new connection with this offer, and send `answer`. */
  | { what: 'back'; sdp: string }
  | { what: 'candidate'; candidate: string };

export interface CallsHost {
  client: Pick<Client, 'call' | 'on'>;
  /** Storage of this tab that survives a reload: `sessionStorage`. */
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  changed(call: Call): void;
  signal(signal: Signal): void;
}

const KEY = 'kith:call';

export class Calls {
  #call: Call | undefined;
  #ticket: string | undefined;
  /** The offer of the caller, and whether both users have called at the same time. */
  #offer: { sdp: string; glare: boolean } | undefined;
  #leave: () => void;

  constructor(private readonly host: CallsHost) {
    this.#leave = host.client.on('call', event => this.#heard(event));
    const kept = remembered(host);
    if (kept) {
      const { ticket, ...call } = kept;
      this.#ticket = ticket;
      this.#call = { ...call, phase: 'lost', held: false, away: false, ice: [] };
    }
  }

  /** The current call, or else the last one. */
  get call(): Call | undefined {
    return this.#call;
  }

  /** The offer of the incoming call. `glare`: both users called each other, so accept it without a question. */
  get offer(): { sdp: string; glare: boolean } | undefined {
    return this.#call?.phase === 'ringing' ? this.#offer : undefined;
  }

  async invite(user: string, media: Media, sdp: string): Promise<void> {
    this.#take(await this.host.client.call({ action: 'invite', user, media, sdp }), user, media);
  }

  async accept(sdp: string): Promise<void> {
    const call = this.#now('ringing');
    // Set before the answer arrives: other tabs get the answer too, and this tab must recognize it as its own.
    this.#set({ ...call, phase: 'up' });
    try {
      this.#take(await this.host.client.call({ action: 'accept', call: call.id, sdp }));
    } catch (error) {
      if (this.#call?.id === call.id && this.#call.phase === 'up') this.#end(undefined);
      throw error;
    }
  }

  async decline(busy = false): Promise<void> {
    const { id } = this.#now('ringing');
    this.#take(await this.host.client.call({ action: 'decline', call: id, ...(busy && { busy }) }));
  }

  async hangUp(): Promise<void> {
    const call = this.#call;
    if (call === undefined || call.phase === 'over') return;
    try {
      this.#take(await this.host.client.call({ action: 'hang_up', call: call.id }));
    } catch {
      // The call is over in this tab in any case. The server ends it if no tab rejoins.
      if (this.#call?.id === call.id) this.#end(call.phase === 'calling' ? 'cancelled' : 'ended');
    }
  }

  async say(what: 'offer' | 'answer', sdp: string): Promise<void> {
    await this.#of(id => ({ action: what, call: id, sdp }));
  }

  async candidate(candidate: string): Promise<void> {
    await this.#of(id => ({ action: 'candidate', call: id, candidate }));
  }

  async hold(on: boolean): Promise<void> {
    await this.#of(id => ({ action: 'hold', call: id, on }));
  }

  /** Rejoins with the offer of a new connection, after a reload or when this browser was offline. */
  async rejoin(sdp: string): Promise<void> {
    const call = this.#call;
    if (call === undefined || this.#ticket === undefined || call.phase === 'over')
      throw new Error('no call to rejoin');
    try {
      this.#take(await this.host.client.call({ action: 'rejoin', call: call.id, ticket: this.#ticket, sdp }));
    } catch (error) {
      if (error instanceof RequestError && error.code === 'no_such_call') this.#end('lost');
      throw error;
    }
  }

  /** Ends the call in this tab only: another tab has it, or it no longer rings. */
  forget(): void {
    this.#end(undefined);
  }

  destroy(): void {
    this.#leave();
  }

  async #of(action: (id: string) => CallAction): Promise<void> {
    if (this.#call === undefined) throw new Error('no call');
    await this.host.client.call(action(this.#call.id));
  }

  #now(phase: Call['phase']): Call {
    if (this.#call?.phase !== phase) throw new Error(`no call is ${phase}`);
    return this.#call;
  }

  /** Applies the answer to a command of this tab. */
  #take(event: CallEvent, user = '', media: Media = 'audio'): void {
    const { call: id, ice = [] } = event;
    switch (event.news) {
      case 'calling':
        return this.#place(event.ticket, {
          id,
          user,
          media,
          phase: 'calling',
          held: false,
          away: false,
          ice,
        });
      case 'ring':
        return this.#ring(event);
      case 'joined':
        if (this.#call?.id === id) this.#place(event.ticket, this.#call);
        return;
      case 'rejoined':
        if (this.#call?.id !== id) return;
        return this.#set({
          ...this.#call,
          phase: event.ms === undefined ? 'calling' : 'up',
          media: event.media,
          held: event.hold ?? false,
          away: event.away ?? false,
          ...(event.ms !== undefined && { acceptedMs: event.ms }),
          ice,
        });
      case 'over':
        // If the callee is busy, this is the first event of the call.
        if (this.#call?.id !== id)
          this.#call = { id, user, media, phase: 'over', held: false, away: false, ice };
        return this.#end(event.outcome, event.ms);
    }
  }

  /** Applies a `call` event of the server; every tab gets each of them. */
  #heard(event: CallEvent): void {
    const mine = this.#call?.id === event.call && this.#call.phase !== 'over' ? this.#call : undefined;
    if (event.re !== undefined) {
      // Another tab of this browser has accepted.
      if (event.news === 'joined' && mine?.phase === 'ringing') this.#end(undefined);
      return;
    }
    if (event.news === 'ring') return this.#ring(event);
    if (mine === undefined) return;
    switch (event.news) {
      case 'accepted':
        this.#set({ ...mine, phase: 'up' });
        return this.host.signal({ what: 'answer', sdp: event.sdp });
      case 'back':
        this.#set({ ...mine, away: false, held: false });
        // Without an offer the connection continues.
        return event.sdp === '' ? undefined : this.host.signal({ what: 'back', sdp: event.sdp });
      case 'offer':
      case 'answer':
        return this.host.signal({ what: event.news, sdp: event.sdp });
      case 'candidate':
        return this.host.signal({ what: 'candidate', candidate: event.candidate });
      case 'hold':
        return this.#set({ ...mine, held: event.on });
      case 'away':
        return this.#set({ ...mine, away: true });
      case 'elsewhere':
        return this.#end(undefined);
      case 'over':
        return this.#end(event.outcome, event.ms);
    }
  }

  #ring(event: CallEvent & { news: 'ring' }): void {
    const busy = this.#call !== undefined && this.#call.id !== event.call && this.#call.phase !== 'over';
    if (busy || (this.#call?.id === event.call && this.#call.phase !== 'ringing')) return;
    const { call: id, user, media, ice = [] } = event;
    this.#offer = { sdp: event.sdp, glare: event.glare ?? false };
    this.#set({ id, user, media, phase: 'ringing', held: false, away: false, ice });
  }

  #place(ticket: string, call: Call): void {
    this.#ticket = ticket;
    const { id, user, media } = call;
    this.host.storage?.setItem(KEY, JSON.stringify({ id, user, media, ticket }));
    this.#set(call);
  }

  #end(outcome: CallOutcome | undefined, ms?: number): void {
    if (this.#call === undefined) return;
    this.#ticket = undefined;
    this.#offer = undefined;
    this.host.storage?.removeItem(KEY);
    this.#set({
      ...this.#call,
      phase: 'over',
      ...(outcome !== undefined && { outcome }),
      ...(ms !== undefined && { ms }),
    });
  }

  #set(call: Call): void {
    this.#call = call;
    this.host.changed(call);
  }
}

/** The stored state after a reload. Undefined if it is not in our format. */
function remembered({
  storage,
}: CallsHost): { id: string; user: string; media: Media; ticket: string } | undefined {
  try {
    const kept = JSON.parse(storage?.getItem(KEY) ?? 'null');
    const texts = [kept?.id, kept?.user, kept?.ticket].every(one => typeof one === 'string');
    if (!texts || (kept.media !== 'audio' && kept.media !== 'video')) return undefined;
    return { id: kept.id, user: kept.user, media: kept.media, ticket: kept.ticket };
  } catch {
    return undefined;
  }
}
