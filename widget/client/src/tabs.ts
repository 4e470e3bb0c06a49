// One connection for all tabs of a browser: one tab leads, and the others mirror it. A Web Lock elects the leader. A
// BroadcastChannel carries the posts.

import type { Action, Change } from './change.ts';
import { RequestError } from './client.ts';
import type { Channel, Environment } from './environment.ts';
import type { Wanted } from './presence_watch.ts';
import type { Unnumbered } from './request.ts';
import type { Snapshot } from './snapshot.ts';
import type { Event } from './wire.ts';

/** The callbacks of a tab in its role. */
export interface TabHost {
  /** This tab holds the connection now. */
  lead(): void;
  /** This tab is a follower, from its start or because another tab has stolen the lock. It must hold no connection. */
  follow(): void;
  snapshot(): Snapshot;
  /**
   * Follower: replace the state by the leader's. Actions that the leader may not have yet are applied again afterwards.
   * `newLeader`: it may lack actions that the previous leader has confirmed.
   */
  restore(snapshot: Snapshot, newLeader: boolean): void;
  /** Follower: apply a change of the leader. */
  mirror(change: Change): void;
  /** Leader: carry out an action of a follower. */
  action(action: Action, from: string): void;
  ask(request: Unnumbered): Promise<Event>;
  watch(tab: string, wanted: Wanted): void;
  /** `insist`: the member wants a connection, whatever the reason for which it stopped. */
  wake(insist: boolean): void;
  poke(): void;
}

/** A message between the tabs of one origin. `to`: only for that tab. */
type Post =
  | { k: 'join'; from: string }
  | { k: 'leave'; from: string }
  | { k: 'lead'; from: string; term: string }
  | { k: 'snapshot'; from: string; to: string; term: string; n: number; state: Snapshot; front: string }
  | { k: 'apply'; from: string; term: string; n: number; change: Change; origin?: string }
  | { k: 'do'; from: string; n: number; action: Action }
  | { k: 'done'; from: string; to: string; n: number }
  | { k: 'ask'; from: string; n: number; request: Unnumbered }
  | { k: 'answer'; from: string; to: string; n: number; event: Event }
  | {
      k: 'failed';
      from: string;
      to: string;
      n: number;
      code: RequestError['code'];
      retryAfter?: number;
      text?: string;
    }
  | { k: 'watch'; from: string; wanted: Wanted }
  /** From a follower, without a term: `tab` got the focus. From the leader: `tab` is the one in front. */
  | { k: 'front'; from: string; tab: string; term?: string }
  | { k: 'wake'; from: string; insist: boolean }
  | { k: 'tick'; from: string }
  | { k: 'tock'; from: string; to: string };

const TICK_MS = 20_000;
const TOCK_MS = 5_000;
/** Browsers throttle timers of hidden tabs, so such a tab ticks once a minute only. */
const SILENT_MS = 150_000;
const MAX_UNDONE = 1_000;
const NOTHING: Wanted = { contacts: false, users: [], lastSeen: [] };

export class Tabs {
  role: 'none' | 'leader' | 'follower' = 'none';

  #channel: Channel | undefined;
  #waiting: AbortController | undefined;
  #release: (() => void) | undefined;
  #terms = 0;
  /** The term of the leader and the number of its last change, as this tab has them. */
  #term = '';
  #n = 0;
  #counter = 0;
  /** Follower: actions that no leader has confirmed. */
  #undone = new Map<number, Action>();
  #asked = new Map<number, { resolve(event: Event): void; reject(error: RequestError): void }>();
  #wanted = NOTHING;
  /** The tab that has the focus or had it last. The leader decides it. */
  #front = '';
  /** Leader: the time of each follower's last post. */
  #heard = new Map<string, number>();
  #tick: (() => void) | undefined;
  #unanswered = 0;
  /** Follower: a snapshot was requested and has not arrived yet. */
  #joining = false;

  constructor(
    private readonly env: Environment,
    /** Equal in all tabs of one member of one site. */
    private readonly scope: string,
    readonly id: string,
    private readonly host: TabHost,
  ) {}

  /** Without locks or channels in this browser, each tab is its own leader. */
  get alone(): boolean {
    return this.env.locks === undefined || this.env.channel === undefined;
  }

  join(): void {
    if (this.role !== 'none' || this.#channel !== undefined) return;
    if (this.alone) {
      this.role = 'leader';
      this.#front = this.id;
      this.host.lead();
      return this.host.watch(this.id, this.#wanted);
    }
    this.#channel = this.env.channel?.(this.scope);
    this.#channel?.listen(message => {
      if (isPost(message)) this.#heardPost(message);
    });
    this.role = 'follower';
    this.host.follow();
    this.#askToJoin();
    this.#stand({});
    this.#beginTicks();
  }

  /** Leaves the group of tabs: the page is left, or the member leaves. Another tab takes over at once. */
  leave(): void {
    this.#post({ k: 'leave', from: this.id });
    this.#tick?.();
    this.#waiting?.abort();
    this.#waiting = undefined;
    this.#release?.();
    this.#release = undefined;
    this.#channel?.close();
    this.#channel = undefined;
    this.role = 'none';
    this.#failAsked();
  }

  /** Leader: sends a change to the followers. `origin`: the tab that has applied it already. */
  tell(change: Change, origin?: string): void {
    if (this.role !== 'leader') return;
    this.#n += 1;
    this.#post({
      k: 'apply',
      from: this.id,
      term: this.#term,
      n: this.#n,
      change,
      ...(origin && { origin }),
    });
  }

  /** Follower: sends an action to the leader, and to the next one if this one ends before it confirms. */
  do(action: Action): void {
    this.#counter += 1;
    if (action.a !== 'typing' && this.#undone.size < MAX_UNDONE) this.#undone.set(this.#counter, action);
    this.#post({ k: 'do', from: this.id, n: this.#counter, action });
  }

  ask(request: Unnumbered): Promise<Event> {
    return new Promise((resolve, reject) => {
      this.#counter += 1;
      this.#asked.set(this.#counter, { resolve, reject });
      this.#post({ k: 'ask', from: this.id, n: this.#counter, request });
    });
  }

  watch(wanted: Wanted): void {
    this.#wanted = wanted;
    if (this.role === 'leader') this.host.watch(this.id, wanted);
    else this.#post({ k: 'watch', from: this.id, wanted });
  }

  /** True in the one tab that shows notices and plays sounds. */
  get inFront(): boolean {
    return this.#front === this.id;
  }

  /** Call it when this tab gets the focus. */
  comeToFront(): void {
    if (this.role === 'leader') this.#setFront(this.id);
    else this.#post({ k: 'front', from: this.id, tab: this.id });
  }

  wake(insist: boolean): void {
    if (this.role === 'leader') this.host.wake(insist);
    else this.#post({ k: 'wake', from: this.id, insist });
  }

  /** Leader: can another tab take over? */
  get followed(): boolean {
    return this.#heard.size > 0;
  }

  /** Requests the lock, and leads when the tab gets it. */
  #stand({ steal }: { steal?: boolean }): void {
    const waiting = new AbortController();
    this.#waiting?.abort();
    this.#waiting = waiting;
    const options = steal ? { steal } : { signal: waiting.signal };
    this.env.locks
      ?.request(this.scope, options, () => {
        if (waiting.signal.aborted) return Promise.resolve();
        return new Promise<void>(release => {
          this.#release = release;
          this.#lead();
        });
      })
      .then(
        () => undefined,
        () => {
          // Another tab has stolen the lock because this one did not answer. Follow it, and queue for the lock again.
          if (waiting.signal.aborted || this.role !== 'leader') return;
          this.#release = undefined;
          this.role = 'follower';
          this.host.follow();
          this.#askToJoin();
          this.#stand({});
        },
      );
  }

  #lead(): void {
    this.role = 'leader';
    this.#terms += 1;
    this.#term = `${this.id}.${this.#terms}`;
    this.#n = 0;
    this.#heard.clear();
    this.#failAsked();
    this.#front = this.id;
    this.#post({ k: 'lead', from: this.id, term: this.#term });
    this.host.lead();
    this.host.watch(this.id, this.#wanted);
    const undone = [...this.#undone.values()];
    this.#undone.clear();
    for (const action of undone) this.host.action(action, this.id);
  }

  #heardPost(post: Post): void {
    if ('to' in post && post.to !== this.id) return;
    if (this.role === 'leader') this.#asLeader(post);
    else if (this.role === 'follower') this.#asFollower(post);
  }

  #asLeader(post: Post): void {
    this.#heard.set(post.from, this.env.now());
    switch (post.k) {
      case 'join': {
        const state = this.host.snapshot();
        this.#post({
          k: 'snapshot',
          from: this.id,
          to: post.from,
          term: this.#term,
          n: this.#n,
          state,
          front: this.#front,
        });
        return;
      }
      case 'do':
        this.host.action(post.action, post.from);
        this.#post({ k: 'done', from: this.id, to: post.from, n: post.n });
        return;
      case 'ask':
        return this.#answer(post.from, post.n, post.request);
      case 'watch':
        return this.host.watch(post.from, post.wanted);
      case 'front':
        return this.#setFront(post.tab);
      case 'wake':
        return this.host.wake(post.insist);
      case 'tick':
        this.#post({ k: 'tock', from: this.id, to: post.from });
        this.#dropSilent();
        return this.host.poke();
      case 'leave':
        return this.#lost(post.from);
    }
  }

  #answer(to: string, n: number, request: Unnumbered): void {
    this.host.ask(request).then(
      event => this.#post({ k: 'answer', from: this.id, to, n, event }),
      (error: unknown) => {
        const { code, retryAfter } = error instanceof RequestError ? error : new RequestError('offline');
        this.#post({
          k: 'failed',
          from: this.id,
          to,
          n,
          code,
          ...(retryAfter !== undefined && { retryAfter }),
        });
      },
    );
  }

  #asFollower(post: Post): void {
    switch (post.k) {
      case 'lead':
        this.#failAsked();
        this.#unanswered = 0;
        return this.#askToJoin();
      case 'snapshot': {
        const newLeader = this.#term !== '' && post.term !== this.#term;
        this.#term = post.term;
        this.#n = post.n;
        this.#unanswered = 0;
        this.#joining = false;
        this.#front = post.front;
        if (this.env.page.focused()) this.comeToFront();
        this.host.restore(post.state, newLeader);
        for (const action of this.#undone.values())
          this.host.mirror({ c: 'action', action, now: this.env.now() });
        for (const [n, action] of this.#undone) this.#post({ k: 'do', from: this.id, n, action });
        return this.#post({ k: 'watch', from: this.id, wanted: this.#wanted });
      }
      case 'apply':
        // A change was missed, or the leader is new: request a snapshot.
        if (post.term !== this.#term || post.n > this.#n + 1) {
          if (!this.#joining) this.#askToJoin();
          return;
        }
        if (post.n <= this.#n) return;
        this.#n = post.n;
        if (post.origin !== this.id) this.host.mirror(post.change);
        return;
      case 'front':
        if (post.term === this.#term) this.#front = post.tab;
        return;
      case 'done':
        this.#undone.delete(post.n);
        return;
      case 'answer':
        this.#asked.get(post.n)?.resolve(post.event);
        this.#asked.delete(post.n);
        return;
      case 'failed':
        this.#asked.get(post.n)?.reject(new RequestError(post.code, post.retryAfter, post.text));
        this.#asked.delete(post.n);
        return;
      case 'tock':
        this.#unanswered = 0;
    }
  }

  /**
   * Followers send ticks. A leader in a hidden tab runs its due work at each tick, because its timers are throttled.
   * After two ticks without an answer, a visible follower steals the lock.
   */
  #beginTicks(): void {
    this.#tick = this.env.timer(TICK_MS, () => {
      if (this.role === 'follower') this.#tickOnce();
      this.#beginTicks();
    });
  }

  #askToJoin(): void {
    this.#joining = true;
    this.#post({ k: 'join', from: this.id });
  }

  #tickOnce(): void {
    this.#unanswered += 1;
    if (this.#joining) this.#askToJoin();
    this.#post({ k: 'tick', from: this.id });
    this.env.timer(TOCK_MS, () => {
      if (this.#unanswered >= 2 && this.role === 'follower' && this.env.page.visible())
        this.#stand({ steal: true });
    });
  }

  #dropSilent(): void {
    const now = this.env.now();
    for (const [tab, at] of this.#heard) {
      if (at + SILENT_MS > now) continue;
      this.#lost(tab);
    }
  }

  #lost(tab: string): void {
    this.#heard.delete(tab);
    this.host.watch(tab, NOTHING);
    if (this.#front === tab) this.#setFront(this.id);
  }

  /** Leader: posted in order with the changes, so that all tabs agree which tab announces a message. */
  #setFront(tab: string): void {
    if (this.#front === tab) return;
    this.#front = tab;
    this.#post({ k: 'front', from: this.id, tab, term: this.#term });
  }

  #failAsked(): void {
    for (const { reject } of this.#asked.values()) reject(new RequestError('offline'));
    this.#asked.clear();
  }

  #post(post: Post): void {
    this.#channel?.post(post);
  }
}

const KINDS = new Set<string>([
  'join',
  'leave',
  'lead',
  'snapshot',
  'apply',
  'do',
  'done',
  'ask',
  'answer',
  'failed',
  'watch',
  'front',
  'wake',
  'tick',
  'tock',
] satisfies Post['k'][]);

/**
 * Only code of this origin can post to the channel, but that may be another version of this file or a script of the
 * page.
 */
function isPost(value: unknown): value is Post {
  if (!isRecord(value) || typeof value.k !== 'string' || typeof value.from !== 'string') return false;
  if (!KINDS.has(value.k)) return false;
  const post = value;
  switch (post.k) {
    case 'lead':
      return typeof post.term === 'string';
    case 'snapshot':
      return (
        typeof post.term === 'string' &&
        typeof post.front === 'string' &&
        Number.isInteger(post.n) &&
        isRecord(post.state) &&
        post.state.v === 1
      );
    case 'apply':
      return typeof post.term === 'string' && Number.isInteger(post.n) && isRecord(post.change);
    case 'do':
      return Number.isInteger(post.n) && isRecord(post.action);
    case 'ask':
      return Number.isInteger(post.n) && isRecord(post.request);
    case 'answer':
      return Number.isInteger(post.n) && isRecord(post.event);
    case 'failed':
      return Number.isInteger(post.n) && typeof post.code === 'string';
    case 'done':
      return Number.isInteger(post.n);
    case 'wake':
      return typeof post.insist === 'boolean';
    case 'front':
      return typeof post.tab === 'string';
    case 'watch':
      return isRecord(post.wanted) && isNames(post.wanted.users) && isNames(post.wanted.lastSeen);
    default:
      return true;
  }
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(name => typeof name === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
