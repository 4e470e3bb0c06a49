// The work of the leader: it holds the connection, sends the queue, answers requests, and sends markers and
// watches.

import { addressee } from './addressee.ts';
import { backoff } from './backoff.ts';
import type { Action, Change, Pending as PendingChange } from './change.ts';
import { type ConversationKey, RequestError, type TransportName } from './client.ts';
import { Connection, type Effect } from './connection.ts';
import type { Environment, Link } from './environment.ts';
import { uuid7 } from './id.ts';
import { commandOf } from './pending_changes.ts';
import { PresenceWatch, type Wanted } from './presence_watch.ts';
import type { Replica } from './replica.ts';
import type { Request, Unnumbered } from './request.ts';
import { COMES_BACK, type Command, type Event, type SetPresence, VERSION } from './wire.ts';

export interface EngineHost {
  replica: Replica;
  /** Applies a change to the replica of every tab. */
  apply(change: Change): void;
  /** A fresh token of the site. Undefined: sign in as a guest. */
  token(): Promise<string | undefined>;
  /** Called when the connection works over this transport. */
  works(transport: TransportName, device: string): void;
}

export interface EngineOptions {
  site: string;
  device: string;
  remembered?: TransportName;
}

const CLIENT = 'kith-widget/0.1';
/** `received` is sent at most once a second; `read` is sent sooner, because the other user sees it. */
const RECEIVED_MS = 1_000;
const READ_MS = 300;
const TYPING_EVERY_MS = 4_000;
const TYPING_LAPSES_MS = 6_000;
/** A draft is sent after this pause in typing, so that the member can continue on another device. */
const DRAFT_MS = 3_000;
const REQUEST_MS = 20_000;
const ACK_MS = 30_000;
const MAX_REQUESTS = 200;
const MAX_FLYING = 20;
/** The maximum number of message changes that wait for an answer. */
const MAX_CHANGING = 8;
const MAX_RENAMED = 5;
/** If a timer is this late, the machine has slept, and the connection may be dead. */
const DRIFT_MS = 5_000;
/** A new leader sends markers again that were sent within this time: it does not know if they arrived. */
const RETELL_MS = 600_000;
/** A refusal arrives within this time after its command, even from a home that does not answer any more. */
const REFUSAL_MS = 10_000;

export class Engine {
  #connection: Connection;
  #link: { number: number; link: Link } | undefined;
  #device: string;
  #renamed = 0;
  #rid = 0;
  #requests = new Map<number, Pending>();
  /** Messages that were sent and are not acknowledged: id → time of sending. */
  #flying = new Map<string, number>();
  /** Messages that were refused for now: id → time of the retry, and number of refusals. */
  #later = new Map<string, { at: number; times: number }>();
  /** Message → time of the retry after its change was refused. Undefined: the change waits for an answer. */
  #changing = new Map<string, number | undefined>();
  #unmarked = new Map<ConversationKey, number>();
  /** Conversations whose last markers may be lost, so they are sent again. */
  #unheard = new Set<ConversationKey>();
  /** The time of the latest command that the server has answered, so it has all earlier ones. */
  #heardUpTo: number | undefined;
  #pingedAt: number | undefined;
  #watch: PresenceWatch;
  #typed = new Map<ConversationKey, number>();
  /** Drafts to send, and the time for it. */
  #drafts = new Map<ConversationKey, number>();
  #wantedPresence: SetPresence | undefined;
  #refreshingList = false;
  #timer: { at: number; cancel: () => void } | undefined;
  #over = false;

  constructor(
    private readonly env: Environment,
    private readonly options: EngineOptions,
    private readonly host: EngineHost,
  ) {
    this.#device = options.device;
    this.#watch = new PresenceWatch(host.replica);
    const order: TransportName[] = ['websocket', 'stream', 'sse', 'poll'];
    const usable = order.filter(name => env.transports[name] !== undefined);
    this.#connection = new Connection(
      usable,
      () => env.random(),
      options.remembered,
      env.now(),
      host.replica.guestToken,
    );
    if (!env.page.online()) this.#step({ type: 'network', online: false });
  }

  start(): void {
    this.#step({ type: 'start' });
  }

  /** Ends the session on purpose. */
  stop(): void {
    this.#step({ type: 'stop' });
    this.#rejectAll();
  }

  /** Ends without a `bye`, because another engine continues the session. No change is applied afterwards. */
  release(): void {
    this.#over = true;
    this.#run(this.#connection.step({ type: 'release' }, this.env.now()));
    this.#timer?.cancel();
    this.#rejectAll();
  }

  wake(): void {
    this.#step({ type: 'wake' });
  }

  network(online: boolean): void {
    this.#step({ type: 'network', online });
  }

  token(token: string): void {
    this.#step({ type: 'token', token });
  }

  /** Runs due work. Other tabs call it, because their timers may run while those of this tab are throttled. */
  poke(): void {
    this.#due();
  }

  /** The part of an action that concerns the server. The replicas have it already. */
  do(action: Action): void {
    switch (action.a) {
      case 'queue':
      case 'retry':
        this.#later.delete(action.id);
        this.#typed.delete(
          this.host.replica.written.queue.find(one => one.id === action.id)?.key ?? ('' as ConversationKey),
        );
        this.#step({ type: 'wanted' });
        this.#pump();
        break;
      case 'change':
        this.#step({ type: 'wanted' });
        this.#pumpChanges();
        break;
      case 'draft':
        this.#drafts.set(action.key, this.env.now() + DRAFT_MS);
        break;
      case 'typing':
        this.#type(action.key, action.on);
        break;
      case 'presence':
        this.#wantedPresence = this.#connection.online ? undefined : action.set;
        this.#send({ t: 'presence', set: action.set });
    }
    this.#schedule();
  }

  /** Sends drafts at once, because the page may be unloaded. */
  saveDrafts(): void {
    for (const key of this.#drafts.keys()) this.#drafts.set(key, this.env.now());
    this.#tellDrafts(this.env.now());
  }

  ask(request: Unnumbered): Promise<Event> {
    return new Promise((resolve, reject) => {
      if (!this.#connection.online) return reject(new RequestError('offline'));
      if (this.#requests.size >= MAX_REQUESTS) return reject(new RequestError('rate_limited'));
      const command = { ...request, rid: ++this.#rid } as Request;
      this.#requests.set(command.rid, { command, resolve, reject, until: this.env.now() + REQUEST_MS });
      this.#send(command);
      this.#schedule();
    });
  }

  watch(tab: string, wanted: Wanted): void {
    this.#watch.want(tab, wanted, this.env.now());
    this.#schedule();
  }

  /** Call after each change with the conversations that it touched. */
  touched(keys: Iterable<ConversationKey>): void {
    const now = this.env.now();
    for (const key of keys) {
      const known = this.host.replica.conversations.byKey.get(key);
      if (!known?.id || (known.read <= known.toldRead && known.top <= known.toldReceived)) continue;
      const at = now + (known.read > known.toldRead ? READ_MS : RECEIVED_MS);
      this.#unmarked.set(key, Math.min(at, this.#unmarked.get(key) ?? at));
    }
    this.#refreshList();
    this.#pump();
    this.#pumpChanges();
    this.#schedule();
  }

  // -- the connection --

  #step(input: Parameters<Connection['step']>[0]): void {
    if (this.#over) return;
    this.#run(this.#connection.step(input, this.env.now()));
    this.#schedule();
  }

  #run(effects: Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case 'token':
          this.#fetchToken();
          break;
        case 'open':
          this.#open(effect);
          break;
        case 'close':
          if (this.#link?.number === effect.link) {
            this.#link.link.close();
            this.#link = undefined;
          }
          break;
        case 'send':
          if (effect.command.t === 'ping') this.#pingedAt = this.env.now();
          if (this.#link?.number === effect.link) this.#link.link.send(JSON.stringify(effect.command));
          break;
        case 'deliver':
          this.#deliver(effect.event);
          break;
        case 'status':
          if (effect.status.state !== 'online') this.#rejectAll();
          if (!this.#over) this.host.apply({ c: 'status', status: { ...effect.status, shared: false } });
      }
    }
  }

  #fetchToken(): void {
    this.host.token().then(
      token => this.#step({ type: 'token', token }),
      () => this.#step({ type: 'token_failed' }),
    );
  }

  #open({ link: number, transport, token }: Effect & { type: 'open' }): void {
    const open = this.env.transports[transport];
    if (open === undefined) return;
    const { position } = this.host.replica;
    const hello: Command = {
      t: 'hello',
      v: VERSION,
      site: this.options.site,
      ...(token !== undefined && { token }),
      device: this.#device,
      ...(position !== undefined && { position }),
      client: CLIENT,
    };
    const link = open(JSON.stringify(hello), {
      event: event => {
        if (event.t === 'pong') this.#heard(this.#pingedAt);
        if (event.t === 'bye' && event.code === 'replaced' && this.#rename(number)) return;
        this.#step({ type: 'event', link: number, event });
      },
      closed: why => {
        if (this.#link?.number === number) this.#link = undefined;
        this.#step({ type: 'closed', link: number, ...why });
      },
    });
    this.#link = { number, link };
  }

  /**
   * Another client uses the id of this device: a former leader that lost the lock while it was asleep, or a copied
   * browser profile. This tab holds the lock, so it stays, with a new device id that ends the conflict.
   */
  #rename(link: number): boolean {
    if (this.#renamed >= MAX_RENAMED) return false;
    this.#renamed += 1;
    this.#device = uuid7(this.env.now(), this.env.bytes(16));
    this.#link?.link.close();
    this.#link = undefined;
    this.#step({ type: 'closed', link });
    return true;
  }

  #send(command: Command): void {
    if (!this.#over) this.#run(this.#connection.send(command, this.env.now()));
  }

  // -- events --

  #deliver(event: Event): void {
    const now = this.env.now();
    const re = 're' in event ? event.re : undefined;
    const pending = re === undefined ? undefined : this.#requests.get(re);
    if (re !== undefined) this.#requests.delete(re);
    if (event.t === 'welcome') this.#beforeWelcome(now);
    if (pending) this.#heard(pending.until - REQUEST_MS);
    if (event.t === 'ack') this.#landed(event.id);
    if (event.t === 'held') this.#landed(event.held.id);
    this.#watch.heard(event, now);
    if (event.t === 'error' && event.id !== undefined) this.#bounced(event, event.id, now);
    else if (event.t === 'error' && re === undefined) this.#unnamedRefusal(event, now);
    // The key is valid for this session only, and only the transport needs it.
    if (event.t === 'welcome') delete event.key;
    this.host.apply({ c: 'event', event, ...(pending && { request: pending.command }), now });
    if (event.t === 'welcome') this.#afterWelcome();
    if (event.t === 'behind') this.#catchUp();
    if (event.t === 'error') pending?.reject(new RequestError(event.code, event.retry_after, event.text));
    else pending?.resolve(event);
  }

  #heard(at: number | undefined): void {
    if (at !== undefined) this.#heardUpTo = Math.max(this.#heardUpTo ?? 0, at);
  }

  #beforeWelcome(now: number): void {
    this.#flying.clear();
    this.#later.clear();
    this.#retell(this.#heardUpTo ?? now - RETELL_MS, now);
    this.host.works(this.#connection.transport, this.#device);
  }

  #afterWelcome(): void {
    this.#watch.welcomed(this.env.now());
    if (this.#wantedPresence !== undefined) {
      const set = this.#wantedPresence;
      this.#wantedPresence = undefined;
      this.#send({ t: 'presence', set });
      this.host.apply({ c: 'action', action: { a: 'presence', set }, now: this.env.now() });
    }
    for (const key of this.host.replica.written.unsaved) this.#drafts.set(key, this.env.now());
    this.touched(this.host.replica.conversations.byKey.keys());
  }

  /** Resumes after the session's queue at the server has overflowed. */
  #catchUp(): void {
    const { position } = this.host.replica;
    if (position === undefined) return;
    // If it fails, close the connection: the next `hello` resumes from the same position.
    this.ask({ t: 'resume', position }).catch(() => {
      const link = this.#link;
      this.#link = undefined;
      link?.link.close();
      if (link) this.#step({ type: 'closed', link: link.number });
    });
  }

  #refreshList(): void {
    if (!this.host.replica.conversations.listIsStale || this.#refreshingList || !this.#connection.online)
      return;
    this.#refreshingList = true;
    this.host.replica.conversations.listIsStale = false;
    const done = () => {
      this.#refreshingList = false;
    };
    this.ask({ t: 'conversations' }).then(done, done);
  }

  // -- the queue --

  /** Sends queued messages, one at a time for each conversation, so that a refusal cannot change their order. */
  #pump(): void {
    if (!this.#connection.online) return;
    const now = this.env.now();
    const busy = new Set<ConversationKey>();
    for (const one of this.host.replica.written.queue) {
      if (one.failed || one.held || busy.has(one.key)) continue;
      busy.add(one.key);
      if (this.#flying.has(one.id) || (this.#later.get(one.id)?.at ?? 0) > now) continue;
      if (this.#flying.size >= MAX_FLYING) return;
      this.#flying.set(one.id, now);
      const { id, body, replyTo, files, bears } = one;
      this.#send({
        t: 'send',
        id,
        to: addressee(one.key),
        body,
        ...(replyTo !== undefined && { reply_to: replyTo }),
        ...(files && { files: files.map(file => file.id) }),
        // `say` may set another command. The server ignores fields that this command does not have.
        ...(bears?.say as object),
      });
    }
  }

  /** Sends one change at a time for each message, so that answers to older and newer changes cannot be confused. */
  #pumpChanges(): void {
    const now = this.env.now();
    for (const one of this.host.replica.pending.all) {
      if (!this.#connection.online || [...this.#changing.values()].filter(at => !at).length >= MAX_CHANGING)
        return;
      const place = `${one.seq} ${one.key}`;
      const { id } = this.host.replica.known(one.key);
      const waits =
        this.#changing.has(place) && (this.#changing.get(place) ?? Number.POSITIVE_INFINITY) > now;
      if (id === undefined || waits) continue;
      this.#changing.set(place, undefined);
      this.#change(one, id, place);
    }
  }

  #change(one: PendingChange, conversation: string, place: string): void {
    this.ask(commandOf(one, conversation)).then(
      () => {
        this.#changing.delete(place);
        this.#pumpChanges();
      },
      ({ code, retryAfter }: RequestError) => {
        if (code === 'offline') this.#changing.delete(place);
        else if (COMES_BACK[code] === 'never') this.#changing.delete(place);
        else this.#changing.set(place, this.env.now() + Math.max(retryAfter ?? 0, 1_000));
        this.#schedule();
      },
    );
  }

  #landed(id: string): void {
    this.#heard(this.#flying.get(id));
    this.#flying.delete(id);
    this.#later.delete(id);
  }

  #bounced({ code, retry_after }: Event & { t: 'error' }, id: string, now: number): void {
    this.#flying.delete(id);
    if ((COMES_BACK[code] ?? 'later') === 'never') return;
    const times = (this.#later.get(id)?.times ?? 0) + 1;
    const wait = Math.max(retry_after ?? 0, 250) + backoff(times, this.env.random());
    this.#later.set(id, { at: now + wait, times });
  }

  // -- typing, drafts, markers --

  #type(key: ConversationKey, on: boolean): void {
    const now = this.env.now();
    const last = this.#typed.get(key);
    if (on && last !== undefined && now - last < TYPING_EVERY_MS) return;
    if (!on && (last === undefined || now - last > TYPING_LAPSES_MS)) return;
    if (on) this.#typed.set(key, now);
    else this.#typed.delete(key);
    this.#send({ t: 'typing', to: addressee(key), on });
  }

  #tellDrafts(now: number): void {
    if (!this.#connection.online) return;
    const { written, conversations } = this.host.replica;
    for (const [key, at] of this.#drafts) {
      if (at > now) continue;
      this.#drafts.delete(key);
      const conversation = conversations.byKey.get(key)?.id;
      if (conversation === undefined || !written.unsaved.has(key)) continue;
      const again = (wait: number) => {
        if (written.unsaved.has(key)) this.#drafts.set(key, this.env.now() + wait);
        this.#schedule();
      };
      this.ask({ t: 'conversation', conversation, draft: written.drafts.get(key) ?? '' }).then(
        () => again(DRAFT_MS),
        ({ code, retryAfter }: RequestError) => {
          if (code !== 'offline' && COMES_BACK[code] !== 'never') again(Math.max(retryAfter ?? 0, DRAFT_MS));
        },
      );
    }
  }

  #tellMarkers(now: number): void {
    if (!this.#connection.online) return;
    for (const [key, at] of this.#unmarked) {
      if (at > now) continue;
      this.#unmarked.delete(key);
      const known = this.host.replica.conversations.byKey.get(key);
      if (!known?.id) continue;
      const again = this.#unheard.delete(key);
      if (known.top > known.read && (known.top > known.toldReceived || again)) {
        this.#send({ t: 'marker', conversation: known.id, received: known.top });
      }
      if (known.read > known.toldRead || again) {
        this.#send({ t: 'marker', conversation: known.id, read: known.read });
      }
      this.host.apply({ c: 'told', key, received: known.top, read: known.read, now });
    }
  }

  /** Handles a refusal without a number. Markers have none, so the markers that were sent last are retried. */
  #unnamedRefusal({ code, retry_after = 1_000 }: Event & { t: 'error' }, now: number): void {
    if (COMES_BACK[code] !== 'later') return;
    this.#retell(now - REFUSAL_MS, now + retry_after);
    this.#watch.refused(now + retry_after);
  }

  /** Sends the markers that were sent since `since` again, at the time `at`. */
  #retell(since: number, at: number): void {
    for (const known of this.host.replica.conversations.byKey.values()) {
      if (known.toldAt === undefined || known.toldAt < since) continue;
      this.#unheard.add(known.key);
      this.#unmarked.set(known.key, at);
    }
  }

  #tellWatch(now: number): void {
    if (!this.#connection.online) return;
    const command = this.#watch.command(now);
    if (command) this.#send(command);
    if (command && !command.contacts && this.host.replica.people.contactsTold === 'some')
      this.host.apply({ c: 'unwatched' });
    const users = this.#watch.absent(now);
    if (users.length > 0) this.host.apply({ c: 'unseen', users });
  }

  // -- time --

  #schedule(): void {
    const at = this.#nextDue();
    if (this.#timer?.at === at || this.#over) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    const cancel = this.env.timer(Math.max(0, at - this.env.now()), () => {
      this.#timer = undefined;
      if (this.env.now() > at + DRIFT_MS) this.#step({ type: 'wake' });
      this.#due();
    });
    this.#timer = { at, cancel };
  }

  #due(): void {
    if (this.#over) return;
    const now = this.env.now();
    this.#step({ type: 'tick' });
    for (const [rid, { until, reject }] of this.#requests) {
      if (until > now) continue;
      this.#requests.delete(rid);
      reject(new RequestError('offline'));
    }
    // A message that was not acknowledged in time is sent again, with the same id.
    for (const [id, at] of this.#flying) if (at + ACK_MS <= now) this.#flying.delete(id);
    this.#tellMarkers(now);
    this.#tellDrafts(now);
    this.#tellWatch(now);
    this.#pump();
    this.#pumpChanges();
    this.#schedule();
  }

  #nextDue(): number | undefined {
    const now = this.env.now();
    const dues: number[] = [];
    const due = this.#connection.deadline();
    if (due !== undefined) dues.push(due);
    if (this.#connection.online) {
      for (const { until } of this.#requests.values()) dues.push(until);
      for (const at of this.#flying.values()) dues.push(at + ACK_MS);
      for (const { at } of this.#later.values()) if (at > now) dues.push(at);
      for (const at of this.#unmarked.values()) dues.push(at);
      for (const at of this.#drafts.values()) dues.push(at);
      for (const at of this.#changing.values()) if (at !== undefined && at > now) dues.push(at);
      if (this.#watch.due !== undefined) dues.push(this.#watch.due);
    }
    const next = Math.min(...dues);
    return Number.isFinite(next) ? next : undefined;
  }

  #rejectAll(): void {
    for (const { reject } of this.#requests.values()) reject(new RequestError('offline'));
    this.#requests.clear();
  }
}

interface Pending {
  command: Request;
  resolve(event: Event): void;
  reject(error: RequestError): void;
  until: number;
}
