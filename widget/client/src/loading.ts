// Loads missing data of the screen page by page: messages of open conversations, and lists.

import { addressee } from './addressee.ts';
import { type ConversationKey, type PagedList, type RequestError, type Topic, topicOf } from './client.ts';
import type { ConversationState } from './conversation_state.ts';
import { covers, newest } from './message_range.ts';
import type { Replica } from './replica.ts';
import type { Ask } from './request.ts';
import { type ListState, type OnScreen, shown, type Views } from './views.ts';

export interface LoadingHost {
  replica: Replica;
  views: Views;
  online(): boolean;
  ask: Ask;
  /** Of this tab only, not of what is known. */
  changed(topics: Iterable<Topic>): void;
  /** The replica has let go of messages. */
  trimmed(): void;
}

/** A screen's worth: below it, opening a conversation asks for more. */
const WINDOW = 30;
const PAGE = 50;
/** Messages that a conversation keeps in memory when it leaves the screen. */
const KEPT_MESSAGES = 100;
const MAX_GAP_PAGES = 5;
/** Of those around a message that is looked for: so many before, and so many after. */
const AROUND = 25;

export class Loading {
  constructor(private readonly host: LoadingHost) {}

  /** The conversation is on the screen until the returned function is called. */
  open(key: ConversationKey): () => void {
    const known = this.host.replica.known(key);
    const screen: OnScreen = this.host.views.screens.get(key) ?? {
      count: 0,
      loading: 'no',
      underWay: new Map(),
      tries: 0,
    };
    if (screen.count === 0 && known.unread > 0) {
      this.#markUnread(screen, known);
      // A page around the first unread message, where the newest page does not reach it.
      const loaded = newest(known.stretches)?.from ?? Number.POSITIVE_INFINITY;
      if (known.top - known.read > PAGE && loaded > known.read + 1) screen.around = known.read + 1;
    }
    screen.count += 1;
    this.host.views.screens.set(key, screen);
    this.host.changed([`timeline:${key}`]);
    this.fill(key);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      screen.count -= 1;
      if (screen.count > 0 || this.host.views.screens.get(key) !== screen) return;
      this.host.views.screens.delete(key);
      this.host.replica.conversations.trim(key, KEPT_MESSAGES);
      this.host.trimmed();
    };
  }

  /** One page further back. */
  older(key: ConversationKey): void {
    const screen = this.host.views.screens.get(key);
    if (screen?.loading !== 'no') return;
    const known = this.host.replica.known(key);
    const window = shown(known, screen);
    screen.tries = 0;
    const awaited = screen.around !== undefined && !covers(known.stretches, screen.around);
    if (!window || awaited) return this.fill(key);
    if (window.from > 1) void this.#load(key, screen, 'older', { before: window.from });
  }

  /** One page further down, to the newest stretch. */
  newer(key: ConversationKey): void {
    const screen = this.host.views.screens.get(key);
    const known = this.host.replica.known(key);
    const window = shown(known, screen);
    if (screen?.loading !== 'no' || !window || window === newest(known.stretches)) return;
    void this.#load(key, screen, 'newer', { after: window.to });
  }

  /** The stretch with this seq, or with the first unread message, or the newest one. */
  async show(key: ConversationKey, wanted?: number | 'unread'): Promise<boolean> {
    const screen = this.host.views.screens.get(key);
    const seq = wanted === 'unread' ? this.host.replica.known(key).read + 1 : wanted;
    const has = () => seq === undefined || covers(this.host.replica.known(key).stretches, seq);
    if (!screen) return false;
    if (wanted === 'unread') {
      this.#markUnread(screen, this.host.replica.known(key));
      this.host.changed([`timeline:${key}`]);
    }
    if (seq === undefined) {
      delete screen.around;
      screen.tries = 0;
      // Messages that were only looked at leave no gap to fill.
      this.host.replica.conversations.trim(key, Number.POSITIVE_INFINITY);
      this.host.trimmed();
      this.fill(key);
      return true;
    }
    const before = screen.around;
    if (!has()) {
      if (!this.host.online()) return false;
      screen.around = seq;
      await this.#load(key, screen, 'older', { before: seq + 1, limit: AROUND });
      if (has()) await this.#load(key, screen, 'newer', { after: seq, limit: AROUND });
    }
    // Another message may be wanted by now.
    const isWanted = screen.around === before || screen.around === seq;
    if (has() && isWanted) screen.around = seq;
    else if (screen.around === seq) {
      if (before === undefined) delete screen.around;
      else screen.around = before;
    }
    // No change, no notification: a view that asks again at each change would never end.
    if (screen.around !== before) this.host.changed([`timeline:${key}`]);
    return has();
  }

  contacts(): void {
    const { more, next } = this.host.replica.people.contactPages;
    if (!more) return;
    this.#loadList('contacts', {
      t: 'contacts',
      ...this.#wholePage(),
      ...(next !== undefined && { after: next }),
    });
  }

  conversations(list: PagedList): void {
    const { more, next } = this.host.replica.conversations.pages[list];
    if (!more) return;
    const which = list === 'archived' ? { archived: true } : list === 'main' ? {} : { only: list };
    this.#loadList(list, {
      t: 'conversations',
      ...which,
      ...this.#wholePage(),
      ...(next !== undefined && { after: next }),
    });
  }

  /** The connection is back, or another tab's knowledge came. */
  fillAll(): void {
    for (const [list, state] of this.host.views.listStates) {
      if (state === 'failed') list === 'contacts' ? this.contacts() : this.conversations(list);
    }
    for (const [key, screen] of this.host.views.screens) {
      screen.tries = 0;
      delete screen.emptyRange;
      this.fill(key);
    }
  }

  /** Loads what a conversation on the screen lacks: its newest page, a screenful, what lies in a hole. */
  fill(key: ConversationKey): void {
    const screen = this.host.views.screens.get(key);
    if (screen?.loading !== 'no' || screen.tries > MAX_GAP_PAGES || !this.host.online()) return;
    const known = this.host.replica.known(key);
    const window = newest(known.stretches);
    if (screen.around !== undefined) {
      // Far from the newest nothing is missing but what is asked for; there, all is as it was.
      if (!covers(known.stretches, screen.around)) return void this.show(key, screen.around);
      if (shown(known, screen) !== window) return;
      delete screen.around;
    }
    if (!window && screen.tries > 0) return;
    if (!window || window.to < known.top) return void this.#load(key, screen, window ? 'gap' : 'newest');
    if (window.from <= 1) return;
    const before = window.from;
    if (known.stretches.length > 1) return void this.#load(key, screen, 'gap', { before });
    if (window.messages.length < WINDOW) void this.#load(key, screen, 'newest', { before });
  }

  /** The line stands above the first unread message of now. */
  #markUnread(screen: OnScreen, { read, unread }: ConversationState): void {
    screen.unreadFrom = read + 1;
    screen.unreadCount = unread;
  }

  /** Answers whether something came. */
  #load(
    key: ConversationKey,
    screen: OnScreen,
    loading: OnScreen['loading'],
    where: { before?: number; after?: number; limit?: number } = {},
  ): Promise<boolean> {
    // A view may ask at each change. A page is requested once while it is under way, and not again where it brought nothing.
    const range = JSON.stringify(where);
    const underWay = screen.underWay.get(range);
    if (underWay) return underWay;
    if (screen.emptyRange === range) return Promise.resolve(false);
    const { stretches } = this.host.replica.known(key);
    screen.loading = loading;
    screen.failed = undefined;
    screen.tries += 1;
    this.host.changed([`timeline:${key}`]);
    const limit = Math.min(PAGE, this.host.replica.limits?.page ?? PAGE);
    const to = addressee(key);
    const done = () => {
      screen.underWay.delete(range);
      if (screen.underWay.size === 0) screen.loading = 'no';
    };
    const asked = this.host.ask({ t: 'history', to, limit, ...where }).then(
      () => {
        done();
        const now = this.host.replica.known(key).stretches;
        screen.bare = now.length === 0;
        if (now === stretches && now.length > 0) screen.emptyRange = range;
        else delete screen.emptyRange;
        this.host.changed([`timeline:${key}`]);
        this.fill(key);
        return true;
      },
      (error: RequestError) => {
        done();
        screen.tries = MAX_GAP_PAGES + 1;
        // Nothing was ever said here; a lost connection is shown by the status, and the next one tries again.
        if (error.code !== 'offline' && error.code !== 'no_such_conversation') screen.failed = error.code;
        this.host.changed([`timeline:${key}`]);
        return false;
      },
    );
    screen.underWay.set(range, asked);
    return asked;
  }

  #loadList(list: PagedList | 'contacts', request: Parameters<Ask>[0]): void {
    const { listStates } = this.host.views;
    if (listStates.get(list) === 'loading') return;
    const topic: Topic = list === 'contacts' ? list : topicOf(list);
    const become = (state: ListState) => {
      listStates.set(list, state);
      // The requests are in the pages of the main list.
      this.host.changed([topic, 'requests']);
    };
    // Without a connection the list is not empty but unknown; `fillAll` loads it with the next one.
    if (!this.host.online()) return become('failed');
    become('loading');
    this.host.ask(request).then(
      () => become('loaded'),
      () => become('failed'),
    );
  }

  #wholePage(): { limit?: number } {
    const { limits } = this.host.replica;
    return limits ? { limit: limits.page } : {};
  }
}
