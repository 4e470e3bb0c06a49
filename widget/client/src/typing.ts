// Users who are typing, per conversation, until the entry expires. Snapshots leave them out.

import type { ChangedTopics } from './changed_topics.ts';
import type { ConversationKey } from './client.ts';

const LAPSES_MS = 6_000;

export class Typing {
  #untilByUser = new Map<ConversationKey, Map<string, number>>();

  constructor(private readonly changed: ChangedTopics) {}

  in(key: ConversationKey): string[] {
    return [...(this.#untilByUser.get(key)?.keys() ?? [])];
  }

  says(key: ConversationKey, user: string, on: boolean, now: number): void {
    const writers = this.#untilByUser.get(key) ?? new Map<string, number>();
    if (on) writers.set(user, now + LAPSES_MS);
    else writers.delete(user);
    if (writers.size > 0) this.#untilByUser.set(key, writers);
    else this.#untilByUser.delete(key);
    this.changed.add(`typing:${key}`);
  }

  /** The user has sent a message, so they no longer type. */
  ends(key: ConversationKey, user: string): void {
    if (this.#untilByUser.get(key)?.delete(user)) this.changed.add(`typing:${key}`);
  }

  /** Removes expired entries. Returns the time of the next expiry. */
  lapse(now: number): number | undefined {
    let next: number | undefined;
    for (const [key, writers] of this.#untilByUser) {
      for (const [user, until] of writers) {
        if (until <= now) {
          writers.delete(user);
          this.changed.add(`typing:${key}`);
        } else next = Math.min(next ?? until, until);
      }
      if (writers.size === 0) this.#untilByUser.delete(key);
    }
    return next;
  }

  clear(): void {
    for (const key of this.#untilByUser.keys()) this.changed.add(`typing:${key}`);
    this.#untilByUser.clear();
  }
}
