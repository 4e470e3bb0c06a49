// The topics that changed since the last call of `take`.

import type { ConversationKey, Topic } from './client.ts';

export class ChangedTopics extends Set<Topic> {
  /** A conversation has changed; its place in the lists may have changed too. */
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
