// Loads the data that the screen needs page by page: messages of open conversations, and lists.

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
  /** Topics that changed in this tab only, without a change of the replica. */
  changed(topics: Iterable<Topic>): void;
  /** The replica has dropped messages. */
  trimmed(): void;
}

/** The messages that fill a screen. With fewer, an open conversation loads more. */
const WINDOW = 30;
const PAGE = 50;
/** The number of messages that stay in memory when a conversation leaves the screen. */
const KEPT_MESSAGES = 100;
const MAX_GAP_PAGES = 5;
/** The number of messages that are loaded before, and also after, a message to show. */
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
      // Load around the first unread message if the newest page does not reach it.
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

  /** Loads the page before the shown messages. */
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

  /** Loads the page after the shown messages, until they meet the newest stretch. */
  newer(key: ConversationKey): void {
    const screen = this.host.views.screens.get(key);
    const known = this.host.replica.known(key);
    const window = shown(known, screen);
    if (screen?.loading !== 'no' || !window || window === newest(known.stretches)) return;
    void this.#load(key, screen, 'newer', { after: window.to });
  }

  /** Shows the stretch with this seq, or with the first unread message, or the newest one. */
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
      // Drop all older stretches, so that the gaps after them are not filled.
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
    // Another call may have requested another message in the meantime.
    const isWanted = screen.around === before || screen.around === seq;
    if (has() && isWanted) screen.around = seq;
    else if (screen.around === seq) {
      if (before === undefined) delete screen.around;
      else screen.around = before;
    }
    // Notify only after a change: a view that calls `show` at each change would loop for ever.
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

  /** Call it when the connection is back, or when the leader's state has arrived. */
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

  /** Loads what a conversation on the screen lacks: its newest page, a full screen, or the messages of a gap. */
  fill(key: ConversationKey): void {
    const screen = this.host.views.screens.get(key);
    if (screen?.loading !== 'no' || screen.tries > MAX_GAP_PAGES || !this.host.online()) return;
    const known = this.host.replica.known(key);
    const window = newest(known.stretches);
    if (screen.around !== undefined) {
      // Far from the newest messages, only the requested stretch can be missing.
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

  /** Places the line above the first message that is unread now. */
  #markUnread(screen: OnScreen, { read, unread }: ConversationState): void {
    screen.unreadFrom = read + 1;
    screen.unreadCount = unread;
  }

  /** Returns true if the server answered. False: it refused, or the last answer for this range was empty. */
  #load(
    key: ConversationKey,
    screen: OnScreen,
    loading: OnScreen['loading'],
    where: { before?: number; after?: number; limit?: number } = {},
  ): Promise<boolean> {
    // A view may ask at each change. A page is not requested while it is pending, nor again after it was empty.
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
        // A conversation without messages is no failure. The status shows a lost connection, and the next one retries.
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
      // The pages of the main list contain the requests.
      this.host.changed([topic, 'requests']);
    };
    // Without a connection the list is unknown, not empty. `fillAll` loads it when the connection is back.
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
