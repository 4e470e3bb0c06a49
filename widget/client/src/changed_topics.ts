// The topics that changed since somebody asked.

import type { ConversationKey, Topic } from './client.ts';

export class ChangedTopics extends Set<Topic> {
  /** Something in a conversation: it may have moved in the lists too. */
  conversation(key: ConversationKey): void {
    this.add(`conversation:${key}`).add(`timeline:${key}`);
    this.lists();
  }

  lists(): this {
    return this.add('conversations')
      .add('archived')
      .add('requests')
      .add('unread')
      .add('mentions')
      .add('totals');
  }

  presence(user: string): void {
    this.add(`presence:${user}`).add('presences');
  }

  take(): Set<Topic> {
    const taken = new Set(this);
    this.clear();
    return taken;
  }
}
