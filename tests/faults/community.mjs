// The members of a cluster, their contacts, their direct conversations and their room.

import { Archive } from './archive.mjs';
import { Fresh } from './fresh.mjs';
import { History, Member } from './members.mjs';
import { Random } from './random.mjs';

const PATIENCE_MS = 30_000;

export class Community {
  /** Everybody is a contact of the next two members, writes with the next one, and is in one room. */
  static async settle(cluster, count, modules) {
    const community = new Community(cluster);
    const users = Array.from({ length: count }, (_, at) => `m${String(at + 1).padStart(2, '0')}`);
    const clients = new Map();
    for (const user of users) clients.set(user, await cluster.enter(user));
    const next = (at, by) => users[(at + by) % count];
    for (const [at, user] of users.entries()) {
      for (const other of new Set([next(at, 1), next(at, 2)])) {
        await asked(clients.get(user), { t: 'contact', action: 'request', user: other });
        await asked(clients.get(other), { t: 'contact', action: 'accept', user });
      }
      await community.#greet(clients.get(user), user, { user: next(at, 1) });
    }
    const made = await asked(clients.get(users[0]), { t: 'create_room', name: 'Everybody', kind: 'public' });
    const room = made.conversation.conversation;
    for (const user of users.slice(1))
      await asked(clients.get(user), { t: 'join', to: { conversation: room } });
    await community.#greet(clients.get(users[0]), users[0], { conversation: room });
    for (const client of clients.values()) {
      client.say({ t: 'bye' });
      client.leave();
    }
    for (const [at, user] of users.entries()) {
      const member = new Member({
        ...{ user, place: at, cluster, modules },
        ...{ history: community.history, written: community.written, random: new Random(at) },
      });
      member.keys = [`@${next(at, 1)}`, `@${next(at, count - 1)}`, `#${room}`];
      member.contacts = [1, 2, count - 1, count - 2].map(by => next(at, by));
      community.members.push(member);
    }
    return community;
  }

  constructor(cluster) {
    this.cluster = cluster;
    this.history = new History();
    this.archive = new Archive();
    this.members = [];
    /** All messages: id → user. */
    this.written = new Map();
    /** How far each member has read, after the last round. */
    this.reached = new Map();
  }

  async #greet(client, user, to) {
    const ack = await client.post(to, `${user} 0`);
    if (ack.t !== 'ack') throw new Error(`a greeting is answered by ${ack.code}`);
    this.written.set(ack.id, user);
  }

  get present() {
    return this.members.filter(({ isHere }) => isHere);
  }

  /** Fresh clients of all present members, on all nodes in turn, and what they see. */
  async look() {
    const { serving } = this.cluster;
    const fresh = new Map();
    const records = new Map();
    for (const [at, { user }] of this.present.entries()) {
      const one = await Fresh.of(this.cluster, user, serving[at % serving.length]);
      fresh.set(user, one);
      records.set(user, await one.look());
    }
    return { fresh, records };
  }

  /** Reads what is new in all conversations. Returns the violations. */
  async readOn(fresh, records) {
    const found = [];
    for (const [conversation, user] of readersOf(records))
      found.push(
        ...this.archive.add(
          conversation,
          await fresh.get(user).history(conversation, this.archive.top(conversation)),
        ),
      );
    return found;
  }

  /** Reads all conversations from their begin, and compares. */
  async readAgain(fresh, records) {
    const found = [];
    for (const [conversation, user] of readersOf(records))
      found.push(...this.archive.compare(conversation, await fresh.get(user).history(conversation, 0)));
    return found;
  }
}

/** One member for each conversation. */
function readersOf(records) {
  const readers = new Map();
  for (const [user, { conversations }] of records)
    for (const conversation of conversations.keys()) readers.set(conversation, user);
  return readers;
}

async function asked(client, command) {
  const answer = await client.ask(command, PATIENCE_MS);
  if (!answer || answer.t === 'error') throw new Error(`${command.t}: ${answer?.code ?? 'no answer'}`);
  return answer;
}
