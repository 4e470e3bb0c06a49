// The connection of one browser as a state machine: inputs and the time go in, effects come out.

import { backoff } from './backoff.ts';
import type { Status, TransportName } from './client.ts';
import { claims } from './token_claims.ts';
import { COMES_BACK, type Code, type Command, type Event, type Welcome } from './wire.ts';

/** Inputs of the state machine. `link` is the number of the attempt, so that events of an abandoned one are ignored. */
export type Input =
  | { type: 'start' }
  /** The member leaves on purpose. */
  | { type: 'stop' }
  /** Ends without a `bye`, as when the page is left: another tab or page continues the session. */
  | { type: 'release' }
  /** The answer to the effect `token`. Undefined: sign in as a guest. */
  | { type: 'token'; token: string | undefined }
  | { type: 'token_failed' }
  | { type: 'event'; link: number; event: Event }
  | { type: 'closed'; link: number; code?: Code; retryAfter?: number }
  /** The page is visible again, was restored from the back-forward cache, or the machine has slept. */
  | { type: 'wake' }
  /** The member has written something that needs the connection. */
  | { type: 'wanted' }
  | { type: 'network'; online: boolean }
  | { type: 'tick' };

/** Effects to carry out, in this order. */
export type Effect =
  | { type: 'token' }
  | { type: 'open'; link: number; transport: TransportName; token: string | undefined }
  | { type: 'close'; link: number }
  | { type: 'send'; link: number; command: Command }
  /** An event for the store. Only the current link delivers events. */
  | { type: 'deliver'; event: Event }
  | { type: 'status'; status: Omit<Status, 'shared'> };

type State =
  | { at: 'idle' }
  | { at: 'token'; until: number }
  | { at: 'opening'; link: number; until: number }
  | Online
  /** `firm`: the server set the time of the retry, so `wake` and `wanted` do not shorten the wait. */
  | { at: 'waiting'; since: number; until: number; firm: boolean; code?: Code }
  | { at: 'stopped'; code?: Code; said?: Said };

interface Online {
  at: 'online';
  link: number;
  since: number;
  heard: number;
  sent: number;
  /** Set after a ping was sent. If no frame arrives until then, the link is dead. */
  probeUntil?: number;
  pingEvery: number;
  silence: number;
  refreshAt: number;
  refreshing: boolean;
}

/** From opening a link to the welcome. This timeout detects proxies that buffer or drop frames. */
const OPEN_MS = 10_000;
const TOKEN_MS = 20_000;
const PING_MS = 50_000;
const PONG_MS = 10_000;
/** Shorter than `PONG_MS`: after sleep the link is probably dead, and the member is waiting. */
const WAKE_PONG_MS = 5_000;
/** A new message ends a wait that has lasted this long. So many quick messages cause only few retries. */
const WANTED_AFTER_MS = 2_000;
/** A link that lived shorter than this does not count as a success: the delay before the next retry keeps growing. */
const STABLE_MS = 10_000;
/** The number of failures before a welcome after which the next transport is tried. */
const FAILURES_IF_NEW = 2;
/** A transport that has worked here gets more attempts, because then the server is more likely the cause. */
const FAILURES_IF_PROVEN = 5;
/** After this time on a transport that is not the best, a new connection tries the best one first again. */
const BETTER_AFTER_MS = 600_000;
/** The server answers a poll after 30 s at the latest. */
const POLL_SILENCE_MS = 35_000;

export class Connection {
  #state: State = { at: 'idle' };
  #out: Effect[] = [];
  #links = 0;
  #attempts = 0;
  #best = 0;
  #failures = 0;
  #betterAt = 0;
  #proven = new Set<TransportName>();
  #token: string | undefined;
  #tokenKnown = false;
  #guestToken: string | undefined;
  #network = true;

  constructor(
    private readonly transports: readonly TransportName[],
    private readonly random: () => number,
    /** The transport that worked last in this browser, if that was recent. */
    remembered?: TransportName,
    now = 0,
    /** The token of a guest from another tab. */
    guestToken?: string,
  ) {
    this.#guestToken = guestToken;
    const at = remembered === undefined ? -1 : transports.indexOf(remembered);
    if (at > 0) {
      this.#best = at;
      this.#betterAt = now + BETTER_AFTER_MS;
    }
  }

  get online(): boolean {
    return this.#state.at === 'online';
  }

  /** The transport in use or tried next. */
  get transport(): TransportName {
    return this.transports[this.#best] ?? 'websocket';
  }

  /** The latest time at which the caller must send a `tick`. */
  deadline(): number | undefined {
    const state = this.#state;
    switch (state.at) {
      case 'idle':
      case 'stopped':
        return undefined;
      case 'online':
        return Math.min(
          state.probeUntil ?? pingDue(state),
          state.refreshing ? Number.POSITIVE_INFINITY : state.refreshAt,
        );
      default:
        return state.until;
    }
  }

  step(input: Input, now: number): Effect[] {
    this.#out = [];
    this.#handle(input, now);
    return this.#out;
  }

  /** The effects that send a command of a member. Empty without a session. */
  send(command: Command, now: number): Effect[] {
    this.#out = [];
    if (this.#state.at === 'online') this.#say(this.#state, command, now);
    return this.#out;
  }

  #handle(input: Input, now: number): void {
    const state = this.#state;
    switch (input.type) {
      case 'start':
        if (state.at === 'idle' || state.at === 'stopped') this.#attempts = 0;
        else if (state.at !== 'waiting') return;
        return this.#begin(now);
      case 'stop':
        if (state.at === 'online') this.#say(state, { t: 'bye' }, now);
        this.#abandon();
        return this.#enter({ at: 'stopped' });
      case 'release':
        this.#abandon();
        return this.#enter({ at: 'idle' });
      case 'token':
        return this.#tokenCame(input.token, now);
      case 'token_failed':
        return this.#tokenFailed(now);
      case 'event':
        return this.#heard(input.link, input.event, now);
      case 'closed':
        if (!this.#isLink(input.link)) return;
        return this.#ended(input.code, input.retryAfter, now);
      case 'wake':
        if (state.at === 'online') this.#probe(state, now, WAKE_PONG_MS);
        else if (state.at === 'waiting' && !(state.firm && now < state.until)) this.#begin(now);
        return;
      case 'wanted':
        if (state.at === 'waiting' && !state.firm && now - state.since >= WANTED_AFTER_MS) this.#begin(now);
        return;
      case 'network':
        return this.#networkChanged(input.online, now);
      case 'tick':
        return this.#tick(now);
    }
  }

  #begin(now: number): void {
    if (this.#tokenKnown && this.#token !== undefined) {
      const { exp } = claims(this.#token);
      if (exp !== undefined && exp <= now + 5_000) this.#tokenKnown = false;
    }
    if (!this.#tokenKnown) {
      this.#enter({ at: 'token', until: now + TOKEN_MS });
      this.#out.push({ type: 'token' });
      return;
    }
    if (this.#best > 0 && now >= this.#betterAt) {
      this.#best = 0;
      this.#failures = 0;
    }
    const link = ++this.#links;
    this.#enter({ at: 'opening', link, until: now + OPEN_MS });
    this.#out.push({ type: 'open', link, transport: this.transport, token: this.#token ?? this.#guestToken });
  }

  #tokenCame(token: string | undefined, now: number): void {
    this.#token = token;
    this.#tokenKnown = true;
    const state = this.#state;
    if (state.at === 'token') return this.#begin(now);
    if (state.at === 'online') {
      state.refreshing = false;
      state.refreshAt = Number.POSITIVE_INFINITY;
      if (token !== undefined) this.#say(state, { t: 'token', rid: 0, token }, now);
    }
    // The connection stopped because of its token, and the page now brings a new one.
    if (state.at === 'stopped' && state.code !== undefined && COMES_BACK[state.code] === 'with_new_token') {
      this.#begin(now);
    }
  }

  #tokenFailed(now: number): void {
    const state = this.#state;
    if (state.at === 'token') this.#wait(undefined, undefined, now);
    if (state.at === 'online') {
      state.refreshing = false;
      state.refreshAt = now + 5_000 + backoff(3, this.random());
    }
  }

  #heard(link: number, event: Event, now: number): void {
    if (!this.#isLink(link)) return;
    const state = this.#state;
    if (event.t === 'bye') {
      this.#abandon();
      const { reason, until } = event;
      const said = { ...(reason !== undefined && { reason }), ...(until !== undefined && { until }) };
      return this.#ended(event.code, event.retry_after, now, said);
    }
    if (state.at === 'opening') {
      if ('within_ms' in event) state.until = now + event.within_ms;
      if (event.t !== 'welcome') return;
      // Deliver to the store first, so that listeners of `online` find the data of the welcome.
      this.#out.push({ type: 'deliver', event });
      return this.#welcomed(link, event, now);
    }
    if (state.at === 'online') {
      state.heard = now;
      state.probeUntil = undefined;
      if (event.t === 'token_ok' && this.#token !== undefined) {
        const { exp } = claims(this.#token);
        state.refreshAt = now + refreshAfter((exp ?? event.expires) - now);
      }
    }
    if (event.t !== 'heartbeat' && event.t !== 'pong') this.#out.push({ type: 'deliver', event });
  }

  #welcomed(link: number, welcome: Welcome, now: number): void {
    const { limits } = welcome;
    const pingEvery = Math.min(PING_MS, limits.idle_ms > 0 ? (limits.idle_ms * 2) / 3 : PING_MS);
    const silence = {
      websocket: pingEvery,
      stream: limits.heartbeat_ms * 2.5,
      sse: limits.heartbeat_ms * 2.5,
      poll: POLL_SILENCE_MS,
    }[this.transport];
    this.#failures = 0;
    this.#proven.add(this.transport);
    if (this.#best > 0 && this.#betterAt <= now) this.#betterAt = now + BETTER_AFTER_MS;
    if (welcome.guest_token !== undefined) this.#guestToken = welcome.guest_token;
    const ownToken = this.#token !== undefined;
    this.#enter({
      at: 'online',
      link,
      since: now,
      heard: now,
      sent: now,
      pingEvery: this.transport === 'websocket' ? pingEvery : Number.POSITIVE_INFINITY,
      silence,
      refreshAt: ownToken ? now + refreshAfter(welcome.expires - welcome.time) : Number.POSITIVE_INFINITY,
      refreshing: false,
    });
  }

  /** The link has ended. `code`: the server's reason, if it sent one. */
  #ended(code: Code | undefined, retryAfter: number | undefined, now: number, said: Said = {}): void {
    const state = this.#state;
    const stable = state.at === 'online' && now - state.since >= STABLE_MS;
    if (stable) this.#attempts = 0;
    if (code === undefined) {
      const next = state.at === 'opening' && this.#transportFailed(now);
      // While no transport has worked yet, try the next one at once. Some proxies drop WebSocket frames.
      if (next && this.#proven.size === 0 && this.#attempts < this.transports.length) return this.#begin(now);
      return this.#wait(undefined, undefined, now);
    }
    // An unknown code comes from a newer server: retry later.
    switch (COMES_BACK[code] ?? 'later') {
      case 'never':
        return this.#enter({ at: 'stopped', code, said });
      case 'now':
        return stable ? this.#begin(now) : this.#wait(code, undefined, now);
      case 'later':
        return this.#wait(code, retryAfter, now);
      case 'with_new_token': {
        const guest = this.#token === undefined;
        this.#tokenKnown = false;
        this.#token = undefined;
        if (guest && this.#guestToken === undefined) return this.#enter({ at: 'stopped', code });
        if (guest) this.#guestToken = undefined;
        // Retry at once the first time. A site that keeps signing bad tokens is asked less and less often.
        return this.#attempts++ === 0 ? this.#begin(now) : this.#wait(code, retryAfter, now);
      }
    }
  }

  /** Counts a failure. Returns true if the next transport must be tried. */
  #transportFailed(now: number): boolean {
    if (!this.#network) return false;
    this.#failures += 1;
    if (this.#failures < (this.#proven.has(this.transport) ? FAILURES_IF_PROVEN : FAILURES_IF_NEW))
      return false;
    this.#failures = 0;
    this.#best = (this.#best + 1) % this.transports.length;
    this.#betterAt = now + BETTER_AFTER_MS;
    return true;
  }

  #wait(code: Code | undefined, retryAfter: number | undefined, now: number): void {
    // The server's delay needs no jitter: the server has spread its clients already.
    const delay = retryAfter ?? backoff(this.#attempts, this.random());
    this.#attempts += 1;
    this.#enter({ at: 'waiting', since: now, until: now + delay, firm: retryAfter !== undefined, code });
  }

  #networkChanged(online: boolean, now: number): void {
    const before = this.#network;
    this.#network = online;
    if (before === online) return;
    this.#tell();
    if (online) this.#handle({ type: 'wake' }, now);
  }

  #tick(now: number): void {
    const state = this.#state;
    const due = this.deadline();
    if (due === undefined || now < due) return;
    switch (state.at) {
      case 'token':
        return this.#tokenFailed(now);
      case 'opening':
        this.#abandon();
        return this.#ended(undefined, undefined, now);
      case 'waiting':
        return this.#begin(now);
      case 'online':
        if (state.probeUntil !== undefined && now >= state.probeUntil) {
          this.#abandon();
          return this.#ended(undefined, undefined, now);
        }
        if (!state.refreshing && now >= state.refreshAt) {
          state.refreshing = true;
          this.#out.push({ type: 'token' });
        }
        if (now >= pingDue(state)) this.#probe(state, now, PONG_MS);
    }
  }

  #probe(state: Online, now: number, patience: number): void {
    const until = now + patience;
    if (state.probeUntil !== undefined && state.probeUntil <= until) return;
    const pinged = state.probeUntil !== undefined;
    state.probeUntil = until;
    if (!pinged) this.#say(state, { t: 'ping' }, now);
  }

  #say(state: Online, command: Command, now: number): void {
    state.sent = now;
    this.#out.push({ type: 'send', link: state.link, command });
  }

  #isLink(link: number): boolean {
    const state = this.#state;
    return 'link' in state && state.link === link;
  }

  #abandon(): void {
    const state = this.#state;
    if ('link' in state) this.#out.push({ type: 'close', link: state.link });
  }

  #enter(state: State): void {
    this.#state = state;
    this.#tell();
  }

  #tell(): void {
    this.#out.push({ type: 'status', status: this.#status() });
  }

  #status(): Omit<Status, 'shared'> {
    const state = this.#state;
    if (state.at === 'idle') return { state: 'idle' };
    if (state.at === 'stopped')
      return { state: 'stopped', ...(state.code && { code: state.code }), ...state.said };
    if (!this.#network) return { state: 'offline' };
    if (state.at === 'online') return { state: 'online', transport: this.transport };
    if (state.at !== 'waiting') return { state: 'connecting' };
    return { state: 'waiting', retryAt: state.until, ...(state.code && { code: state.code }) };
  }
}

/** The reason for the end of a session, if the server gave one. */
type Said = Pick<Status, 'reason' | 'until'>;

function pingDue(state: Online): number {
  return Math.min(state.sent + state.pingEvery, state.heard + state.silence);
}

function refreshAfter(lifetime: number): number {
  return Math.max(5_000, lifetime * 0.8);
}
