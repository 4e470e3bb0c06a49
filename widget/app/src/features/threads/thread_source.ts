// One thread as the source of a conversation view. The server sends pages of replies; live replies come from
// the room's timeline.

import {
  type Client,
  type Code,
  type ConversationKey,
  type Message,
  RequestError,
  type SentFile,
  type ThreadView,
  type Timeline,
} from '@kith/client';
import { inThread, threadDraft } from '@kith/client/message_extras';
import type { ConversationSource, SourceTopic } from '../chat/conversation_source.ts';

/** Collects read replies for this time, because a scroll shows many messages in a short time. */
const READ_DELAY_MS = 400;
const NOBODY: readonly string[] = [];

export class ThreadSource implements ConversationSource {
  readonly #draftKey: ConversationKey;
  /** Undefined until the thread is loaded. */
  #view: ThreadView | undefined;
  #pages: readonly Message[] = [];
  #more = true;
  #loading: Timeline['loading'] = 'no';
  #failed: Code | undefined;
  #unread: { from: number; count: number } | undefined;
  #built: Timeline | undefined;
  #seen = 0;
  #readTimer: ReturnType<typeof setTimeout> | undefined;
  #listeners = new Set<() => void>();
  /** Changes with each load of the newest page and with each close, so that older responses are dropped. */
  #visit = 0;

  constructor(
    private readonly client: Client,
    private readonly key: ConversationKey,
    readonly thread: number,
  ) {
    this.#draftKey = threadDraft(key, thread);
  }

  /** Loads the thread and subscribes to the room until the caller calls the returned function. */
  open(): () => void {
    const { client, key } = this;
    let wasOnline = client.status().state === 'online';
    const leave = [
      client.subscribe(`timeline:${key}`, () => this.#changed()),
      client.subscribe('status', () => {
        const isOnline = client.status().state === 'online';
        // Replies may have arrived while the connection was lost.
        if (isOnline && !wasOnline) void this.#load();
        wasOnline = isOnline;
      }),
      client.on('changed', one => {
        if (one.key === key) this.#replace(one.message);
      }),
    ];
    // Live and queued replies are in the newest part of the room's timeline.
    void client.show(key);
    void this.#load();
    return () => {
      this.#visit += 1;
      for (const one of leave) one();
      if (this.#readTimer !== undefined) void this.#tellRead();
    };
  }

  get view(): ThreadView | undefined {
    return this.#view;
  }

  root(): Message | undefined {
    return this.#roomMessages().find(one => one.seq === this.thread) ?? this.#view?.root;
  }

  /** The number of replies, including queued ones and ones that are not loaded. */
  count(): number {
    return Math.max(this.#replies().length, this.#stored());
  }

  #stored(): number {
    const loaded = this.#replies().filter(one => one.seq !== undefined).length;
    return Math.max(loaded, this.root()?.replies?.count ?? 0, this.#view?.root.replies?.count ?? 0);
  }

  async follow(on: boolean): Promise<void> {
    const rich = await this.client.rich();
    this.#view = await rich.thread(this.key, this.thread, { follow: on });
    this.#changed();
  }

  timeline(): Timeline {
    this.#built ??= this.#build();
    return this.#built;
  }

  #build(): Timeline {
    const root = this.root();
    const replies = this.#replies();
    return {
      // The root is the first message of the thread. Add it only if no reply after it is missing.
      messages: root && !this.#more ? [root, ...replies] : replies,
      more: this.#more,
      loading: this.#loading,
      ...(this.#failed && { failed: this.#failed }),
      ...(this.#unread && { unreadFrom: this.#unread.from, unreadCount: this.#unread.count }),
    };
  }

  #roomMessages(): readonly Message[] {
    return this.client.timeline(this.key).messages;
  }

  #replies(): readonly Message[] {
    const room = this.client.timeline(this.key);
    // If the room shows an older part of its timeline, its messages do not connect to the thread's pages.
    const live = room.later ? [] : room.messages.filter(one => one.thread === this.thread);
    return merged(this.#pages, live);
  }

  async #load(): Promise<void> {
    this.#visit += 1;
    const visit = this.#visit;
    this.#set({ loading: 'newest' });
    try {
      const rich = await this.client.rich();
      const [view, page] = await Promise.all([
        rich.thread(this.key, this.thread),
        rich.replies(this.key, this.thread),
      ]);
      if (visit !== this.#visit) return;
      if (this.#view === undefined) this.#unread = firstUnread(page.messages, view);
      const meets = page.messages.some(one => this.#pages.some(old => old.seq === one.seq));
      const before = meets ? this.#pages : [];
      this.#more = meets ? this.#more : page.more;
      this.#pages = merged(before, page.messages);
      this.#view = view;
      this.#set({ loading: 'no' });
    } catch (error) {
      if (visit === this.#visit) this.#set({ loading: 'no', failed: codeOf(error) });
    }
  }

  async #loadOlder(): Promise<void> {
    if (this.#loading !== 'no') return;
    if (this.#view === undefined) return this.#load();
    const visit = this.#visit;
    this.#set({ loading: 'older' });
    try {
      const rich = await this.client.rich();
      const page = await rich.replies(this.key, this.thread, this.#replies()[0]?.seq);
      if (visit !== this.#visit) return;
      this.#pages = merged(page.messages, this.#pages);
      this.#more = page.more;
      this.#set({ loading: 'no' });
    } catch (error) {
      if (visit === this.#visit) this.#set({ loading: 'no', failed: codeOf(error) });
    }
  }

  loadOlder(): void {
    void this.#loadOlder();
  }

  /** Does nothing, because the list always ends with the newest reply. */
  loadNewer(): void {}

  async show(_key: ConversationKey, seq?: number | 'unread'): Promise<boolean> {
    if (typeof seq !== 'number') return true;
    // A reply may quote any older message of the room, but paging finds only replies of this thread.
    while (seq >= this.thread && !this.#has(seq) && this.#more && this.#failed === undefined) {
      const before = this.#pages.length;
      await this.#loadOlder();
      if (this.#pages.length === before) break;
    }
    return this.#has(seq);
  }

  #has(seq: number): boolean {
    return this.timeline().messages.some(one => one.seq === seq);
  }

  seen(_key: ConversationKey, seq: number): boolean {
    const number = this.#numberOf(seq);
    if (!this.#view?.follows || number <= this.#seen) return true;
    this.#seen = number;
    this.#readTimer ??= setTimeout(() => void this.#tellRead(), READ_DELAY_MS);
    return true;
  }

  /** The number of a message in the thread; the root is 0. Replies that are not loaded are older than the others. */
  #numberOf(seq: number): number {
    const after = this.#replies().filter(one => one.seq !== undefined && one.seq > seq).length;
    return seq === this.thread ? 0 : this.#stored() - after;
  }

  async #tellRead(): Promise<void> {
    clearTimeout(this.#readTimer);
    this.#readTimer = undefined;
    const read = this.#seen;
    try {
      const rich = await this.client.rich();
      await rich.thread(this.key, this.thread, { read });
    } catch {
      // Sent again when the member sees the next reply.
      this.#seen = Math.min(this.#seen, read - 1);
    }
  }

  send(_key: ConversationKey, body: string, replyTo?: number, files?: readonly SentFile[]): void {
    this.#unread = undefined;
    this.client.send(this.key, body, replyTo, files, inThread(this.thread));
    // The server makes an author follow the thread.
    if (this.#view) this.#view = { ...this.#view, follows: true };
    this.#changed();
  }

  draft(): string {
    return this.client.draft(this.#draftKey);
  }

  setDraft(_key: ConversationKey, text: string): void {
    this.client.setDraft(this.#draftKey, text);
  }

  /** Typing events name the room and not the thread, so a thread neither shows nor sends them. */
  typing(): readonly string[] {
    return NOBODY;
  }

  setTyping(): void {}

  subscribe(topic: SourceTopic, listener: () => void): () => void {
    if (topic.startsWith('draft:')) return this.client.subscribe(`draft:${this.#draftKey}`, listener);
    if (topic.startsWith('typing:')) return () => undefined;
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Applies an edit, a reaction or a deletion of a message that may be outside of the room's timeline. */
  #replace(message: Message): void {
    if (message.seq === this.thread && this.#view) this.#view = { ...this.#view, root: message };
    this.#pages = this.#pages.map(one => (one.seq === message.seq ? message : one));
    this.#changed();
  }

  #set({ loading, failed }: { loading: Timeline['loading']; failed?: Code }): void {
    this.#loading = loading;
    this.#failed = failed;
    this.#changed();
  }

  #changed(): void {
    this.#built = undefined;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Each message once, in its newest version, sorted by seq. Messages without a seq are queued and come last. */
export function merged(pages: readonly Message[], live: readonly Message[]): readonly Message[] {
  const byId = new Map<string, Message>();
  for (const one of [...pages, ...live]) byId.set(`${one.from} ${one.id}`, one);
  const place = (one: Message) => one.seq ?? Number.MAX_SAFE_INTEGER;
  return [...byId.values()].sort((a, b) => place(a) - place(b));
}

function firstUnread(newest: readonly Message[], { follows, unread }: ThreadView) {
  const from = follows && unread > 0 ? newest.at(-unread)?.seq : undefined;
  return from === undefined ? undefined : { from, count: unread };
}

function codeOf(error: unknown): Code {
  return error instanceof RequestError && error.code !== 'offline' ? error.code : 'unavailable';
}
