// The role of this tab among the member's tabs: it leads and holds the connection, or follows the leader. The member's
// actions reach the server in both roles.

import type { BrowserStorage } from './browser_storage.ts';
import type { Action, Change, Pending } from './change.ts';
import { type ConversationKey, RequestError } from './client.ts';
import { Engine } from './engine.ts';
import type { Environment } from './environment.ts';
import { keepGuest } from './guest_token.ts';
import { uuid7 } from './id.ts';
import type { Wanted } from './presence_watch.ts';
import type { Replica } from './replica.ts';
import type { Answer, Unnumbered } from './request.ts';
import { cached } from './snapshot.ts';
import { Tabs } from './tabs.ts';
import type { Unsent } from './unsent.ts';
import type { Event } from './wire.ts';

export interface LeadershipHost {
  /** Key of the site. */
  site: string;
  replica: Replica;
  stored: BrowserStorage;
  token(): Promise<string | undefined>;
  /** Applies a change to the replica of this tab. */
  mirror(change: Change): void;
  /** The replica of this tab has received the state of the leader. */
  restored(): void;
}

const SAVE_MS = 2_000;
/** Used instead of a `sub`: all tabs of this browser are the same guest. */
export const GUEST = 'guest';

export class Leadership {
  #tab: string;
  #user: string | undefined;
  #tabs: Tabs | undefined;
  /** Undefined in a follower. */
  #engine: Engine | undefined;
  #saving: (() => void) | undefined;

  constructor(
    private readonly env: Environment,
    private readonly host: LeadershipHost,
  ) {
    this.#tab = uuid7(env.now(), env.bytes(16));
  }

  /** True between `enter` and `leave`. */
  get entered(): boolean {
    return this.#tabs !== undefined;
  }

  get leads(): boolean {
    return this.#engine !== undefined;
  }

  get follows(): boolean {
    return this.#tabs?.role === 'follower';
  }

  /** Of all tabs this one has the focus, or had it last. Undefined before `enter`. */
  get inFront(): boolean | undefined {
    return this.#tabs?.inFront;
  }

  /** `queue` and `drafts`: written before the user was known, or while the page was left. */
  enter(user: string, wanted: Wanted, { queue, drafts }: Pick<Unsent, 'queue' | 'drafts'>): void {
    this.#user = user;
    const { replica } = this.host;
    this.#tabs = new Tabs(this.env, `kith:2:${this.host.site}:${user}`, this.#tab, {
      lead: () => this.#lead(),
      follow: () => this.#follow(),
      snapshot: () => replica.snapshot(),
      restore: (state, newLeader) => {
        const there = new Set(state.queue.map(one => one.id));
        const lost = newLeader ? replica.written.queue.filter(one => !one.failed && !there.has(one.id)) : [];
        const unchanged = newLeader ? replica.pending.all.filter(one => !isThere(one, state.pending)) : [];
        replica.restore(state);
        // These may or may not have reached the server. Sending them again with the same id is safe in both cases.
        for (const one of lost) this.do({ a: 'queue', ...one });
        for (const one of unchanged) this.do({ a: 'change', ...one });
        this.host.restored();
      },
      mirror: change => this.host.mirror(change),
      action: (action, from) => this.#carryOut(action, from),
      ask: request => this.#engine?.ask(request) ?? Promise.reject(new RequestError('offline')),
      watch: (tab, wanted) => this.#engine?.watch(tab, wanted),
      wake: insist => (insist ? this.#engine?.start() : this.#engine?.wake()),
      poke: () => this.#engine?.poke(),
    });
    this.#tabs.watch(wanted);
    for (const { failed: _, ...one } of queue) this.#tabs.do({ a: 'queue', ...one });
    for (const [key, text] of drafts) this.#tabs.do({ a: 'draft', key, text });
    this.#tabs.join();
  }

  /** This tab leaves the group of tabs. The replica stays readable. */
  leave(): void {
    this.save();
    this.#engine?.release();
    this.#engine = undefined;
    this.#tabs?.leave();
    this.#tabs = undefined;
  }

  /** Ends the session, unless other tabs follow: one of them then takes the session over. */
  stop(): void {
    if (!this.#tabs?.followed) this.#engine?.stop();
    this.leave();
  }

  do(action: Action): void {
    if (this.#engine) return this.#carryOut(action, undefined);
    this.host.mirror({ c: 'action', action, now: this.env.now() });
    this.#tabs?.do(action);
  }

  ask<R extends Unnumbered>(request: R): Promise<Answer<R['t']>> {
    // The server answers each command with the event of its type: tests of the server check `Command::answered_by`.
    return this.#answer(request) as Promise<Answer<R['t']>>;
  }

  #answer(request: Unnumbered): Promise<Event> {
    if (this.#engine) return this.#engine.ask(request);
    if (this.#tabs?.role === 'follower') return this.#tabs.ask(request);
    return Promise.reject(new RequestError('offline'));
  }

  watch(wanted: Wanted): void {
    this.#tabs?.watch(wanted);
  }

  /** `insist`: the member wants a connection, whatever the reason for which it stopped. */
  wake(insist: boolean): void {
    this.#tabs?.wake(insist);
  }

  comeToFront(): void {
    this.#tabs?.comeToFront();
  }

  /** Gives a fresh token to the leader. */
  token(text: string): void {
    this.#engine?.token(text);
  }

  network(on: boolean): void {
    this.#engine?.network(on);
  }

  touched(keys: readonly ConversationKey[]): void {
    this.#engine?.touched(keys);
  }

  saveDrafts(): void {
    this.#engine?.saveDrafts();
  }

  /** Only the leader saves, and only for a member whom the server has welcomed. A guest's state is not saved. */
  save(): void {
    this.#saving?.();
    this.#saving = undefined;
    const { replica, stored } = this.host;
    const { me } = replica;
    if (this.#engine && me && me.user === this.#user)
      stored.keepCache(me.user, cached(replica.snapshot()), this.env.now());
  }

  #lead(): void {
    const { site, replica, stored } = this.host;
    const alone = this.#tabs?.alone ?? true;
    const kept = alone ? undefined : stored.device();
    const device = kept ?? uuid7(this.env.now(), this.env.bytes(16));
    const remembered = stored.transport(this.env.now());
    if (this.#user === GUEST) replica.guestToken ??= stored.guest(this.env.now());
    this.#engine = new Engine(
      this.env,
      { site, device, ...(remembered && { remembered }) },
      {
        replica,
        apply: change => this.#apply(change),
        token: () => this.host.token(),
        works: (transport, name) => {
          // Store nothing for a guest who has not written yet.
          if (this.#user === GUEST && stored.guest(this.env.now()) === undefined) return;
          if (!alone) stored.keepDevice(name);
          stored.keepTransport(transport, this.env.now());
        },
      },
    );
    this.#engine.start();
  }

  #follow(): void {
    this.#engine?.release();
    this.#engine = undefined;
    this.#saving?.();
    this.#saving = undefined;
  }

  /** Leader: carries out an action of any tab. */
  #carryOut(action: Action, from: string | undefined): void {
    this.#apply({ c: 'action', action, now: this.env.now() }, from);
    this.#engine?.do(action);
  }

  /** Leader: applies a change in this tab and in all others. */
  #apply(change: Change, origin?: string): void {
    const { replica, stored } = this.host;
    this.#tabs?.tell(change, origin);
    this.host.mirror(change);
    this.#saveSoon();
    if (change.c === 'event') keepGuest(change.event, this.#user === GUEST, replica, stored, this.env.now());
  }

  #saveSoon(): void {
    if (this.#saving !== undefined || this.env.storage === undefined) return;
    this.#saving = this.env.timer(SAVE_MS, () => this.save());
  }
}

function isThere(one: Pending, all: readonly Pending[] = []): boolean {
  return all.some(
    it => it.key === one.key && it.seq === one.seq && it.what === one.what && it.time === one.time,
  );
}
