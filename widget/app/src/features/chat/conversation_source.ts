// The data source of a conversation view: the timeline of a conversation, or one thread of a room.

import type { Client, ConversationKey, SentFile, Topic } from '@kith/client';

/** The topics of a source; only these may be subscribed to. */
export type SourceTopic = Extract<Topic, `timeline:${string}` | `typing:${string}` | `draft:${string}`>;

/** A client is the source of every timeline. `features/threads/thread_source.ts` is the source of a thread. */
export interface ConversationSource
  extends Pick<
    Client,
    'timeline' | 'typing' | 'draft' | 'loadOlder' | 'loadNewer' | 'show' | 'seen' | 'setDraft' | 'setTyping'
  > {
  /**
   * The seq of the thread's root. Undefined for the timeline of the conversation, which has no rows for
   * thread replies.
   */
  readonly thread?: number;
  subscribe(topic: SourceTopic, listener: () => void): () => void;
  /** Queues a message, also while offline. */
  send(key: ConversationKey, body: string, replyTo?: number, files?: readonly SentFile[]): void;
}
