// Text that the server does not have yet: queued messages and drafts.

import type { Action, Queued } from './change.ts';
import type { ChangedTopics } from './changed_topics.ts';
import type { ConversationKey } from './client.ts';
import type { Code, Held } from './wire.ts';

const MAX_QUEUED = 500;
const MAX_DRAFT_CHARS = 16_000;

export class Unsent {
  /** Queued messages, in the order in which they were written. */
  queue: readonly Queued[] = [];
  readonly drafts = new Map<ConversationKey, string>();
  /** Conversations whose local draft differs from the server's. */
  readonly unsaved = new Set<ConversationKey>();

  constructor(private readonly changed: ChangedTopics) {}

  /** `bodyBytes`: the server's limit for a body, if it is known. */
  enqueue({ a: _, ...one }: Action & { a: 'queue' }, bodyBytes: number | undefined): void {
    const { id, key } = one;
    if (this.queue.some(old => old.id === id)) return;
    const code = this.#unsendable(one, bodyBytes);
    this.queue = [...this.queue, { ...one, ...(code && { failed: code }) }];
    this.changed.conversation(key);
  }

  #unsendable({ body, files }: Queued, bodyBytes = Number.POSITIVE_INFINITY): Code | undefined {
    if (this.queue.length >= MAX_QUEUED) return 'full';
    return (body === '' && !files) || new TextEncoder().encode(body).length > bodyBytes
      ? 'bad_body'
      : undefined;
  }

  unqueue(id: string): void {
    const queued = this.queue.find(one => one.id === id);
    if (!queued) return;
    this.queue = this.queue.filter(one => one !== queued);
    this.changed.conversation(queued.key);
  }

  setFailed(id: string, code: Code | undefined): void {
    const queued = this.queue.find(one => one.id === id);
    if (!queued || queued.failed === code) return;
    const { failed: _, ...rest } = queued;
    this.queue = this.queue.map(one => (one === queued ? { ...rest, ...(code && { failed: code }) } : one));
    this.changed.conversation(queued.key);
  }

  /** The server holds the message outside of the conversation, or a moderator has refused it. */
  held(key: ConversationKey, { id, body, opaque, time, reply_to, state, reason }: Held): void {
    const {
      failed: _,
      why: __,
      ...before
    } = this.queue.find(one => one.id === id) ?? {
      id,
      key,
      body,
      ...(opaque && { opaque: true }),
      time,
      ...(reply_to && { replyTo: reply_to }),
    };
    const now: Queued =
      state === 'refused'
        ? { ...before, failed: 'filtered', ...(reason && { why: reason }) }
        : { ...before, held: state };
    if (state === 'refused') delete now.held;
    this.queue = [...this.queue.filter(one => one.id !== id), now];
    this.changed.conversation(now.key);
  }

  /** Sets the draft of the member. `saved`: the draft that the server has. */
  write(key: ConversationKey, text: string, saved = ''): void {
    this.#setDraft(key, text);
    this.saved(key, saved);
  }

  /** The server has `text` as the draft of this conversation. */
  saved(key: ConversationKey, text: string): void {
    if ((this.drafts.get(key) ?? '') === text) this.unsaved.delete(key);
    else this.unsaved.add(key);
  }

  /** Takes a draft from another device, unless a local draft is not sent yet: that one is newer. */
  heard(key: ConversationKey, text: string): void {
    if (!this.unsaved.has(key)) this.#setDraft(key, text);
  }

  #setDraft(key: ConversationKey, text: string): void {
    const cut = text.slice(0, MAX_DRAFT_CHARS);
    if ((this.drafts.get(key) ?? '') === cut) return;
    if (cut === '') this.drafts.delete(key);
    else this.drafts.set(key, cut);
    this.changed.add(`draft:${key}`).add(`conversation:${key}`);
  }

  /** The other user of the conversation has a new id. */
  move(from: ConversationKey, to: ConversationKey): void {
    this.queue = this.queue.map(one => (one.key === from ? { ...one, key: to } : one));
    const draft = this.drafts.get(from);
    if (draft === undefined || this.drafts.has(to)) return;
    this.write(to, draft);
    this.#setDraft(from, '');
    this.unsaved.delete(from);
  }

  /** Removes queued messages of a conversation in which the member may no longer write. The typed draft stays. */
  forget(key: ConversationKey): void {
    this.queue = this.queue.filter(one => one.key !== key);
  }

  /** Replaces the queue and the drafts by those of a snapshot. */
  restore(
    queue: readonly Queued[],
    drafts: Iterable<[ConversationKey, string]>,
    unsaved: Iterable<ConversationKey>,
  ): void {
    this.queue = queue;
    this.drafts.clear();
    for (const [key, text] of drafts) this.#setDraft(key, text);
    this.unsaved.clear();
    for (const key of unsaved) this.unsaved.add(key);
    for (const one of this.queue) this.changed.conversation(one.key);
  }

  /** Call it after another member has signed in. */
  clear(): void {
    this.queue = [];
    for (const key of [...this.drafts.keys()]) this.#setDraft(key, '');
    this.unsaved.clear();
  }
}
