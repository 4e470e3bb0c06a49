// What a client sees that knows nothing: the records of its conversations, its contacts, and who is present.

const PATIENCE_MS = 20_000;
/** The number of messages of one answer. */
const PAGE = 100;

export class Fresh {
  static async of(cluster, user, node) {
    const fresh = new Fresh(user, await cluster.enter(user, node));
    fresh.client.keeps = false;
    return fresh;
  }

  constructor(user, client) {
    this.user = user;
    this.client = client;
  }

  /** `conversations` by id, `contacts` and `presence` by user. */
  async look() {
    const { conversations } = await this.#ask({ t: 'conversations', limit: PAGE });
    const { contacts } = await this.#ask({ t: 'contacts', limit: PAGE });
    const watching = this.client.next(({ t }) => t === 'watching', PATIENCE_MS);
    this.client.say({ t: 'watch', contacts: true });
    const present = await watching;
    if (!present) throw new Error(`${this.user}: no answer to watch`);
    const presence = new Map(contacts.map(({ user }) => [user, 'offline']));
    for (const state of ['online', 'away', 'busy'])
      for (const user of present[state] ?? []) presence.set(user, state);
    return {
      conversations: new Map(conversations.map(one => [one.conversation, recordOf(one)])),
      contacts: new Map(contacts.map(({ user, state }) => [user, state])),
      presence,
    };
  }

  /** The messages of a conversation after a seq. */
  async history(conversation, after) {
    const all = [];
    for (;;) {
      const from = all.at(-1)?.seq ?? after;
      const page = await this.#ask({ t: 'history', to: { conversation }, after: from, limit: PAGE });
      all.push(...page.messages);
      if (!page.more || page.messages.length === 0) return all;
    }
  }

  leave() {
    this.client.say({ t: 'bye' });
    this.client.leave();
  }

  async #ask(command) {
    const answer = await this.client.ask(command, PATIENCE_MS);
    if (!answer || answer.t === 'error')
      throw new Error(`${this.user}: ${command.t} is answered by ${answer?.code ?? 'nothing'}`);
    return answer;
  }
}

function recordOf(one) {
  return {
    key: one.with ? `@${one.with.user}` : `#${one.conversation}`,
    unread: one.unread,
    read: one.read,
    last: one.last?.seq ?? 0,
    theirReceived: one.their_received,
    theirRead: one.their_read,
  };
}
