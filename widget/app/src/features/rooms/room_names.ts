// The nicknames of a room's members, which its chat shows in place of their display names.

import type { Client, Conversation, ConversationKey, Event, KnownPerson, Topic } from '@kith/client';
import { useEffect, useMemo } from 'preact/hooks';
import { type AppContextValue, useAppContext } from '../../app_context.tsx';

/** The server answers for as many users at once. */
const MOST_AT_ONCE = 100;
/** The names of more users are forgotten, and requested again when they are drawn. */
const MOST_KNOWN = 1_000;
/** Milliseconds. All members who show the room ask after a change of a nickname, so they wait for a random time. */
const SPREAD = 2_000;

/** The nicknames of one room that this tab knows. */
class RoomNames {
  /** The client with the room's nicknames as names of persons. A contact keeps the member's own name. */
  readonly client: Client;
  #known = new Map<string, string | undefined>();
  #wanted = new Set<string>();
  #version = 0;
  #asking: Promise<void> | undefined;
  #named = new WeakMap<KnownPerson, KnownPerson>();
  #listeners = new Map<Topic, Set<() => void>>();

  constructor(
    private readonly plain: Client,
    private readonly key: ConversationKey,
  ) {
    const instead: Partial<Client> = {
      person: user => this.#person(user),
      subscribe: (topic, listener) => this.#subscribe(topic, listener),
      members: async (...wanted) => {
        const page = await plain.members(...wanted);
        for (const { user } of page.members) if (!this.#known.has(user)) this.#wanted.add(user);
        await this.#ask();
        return page;
      },
      // The own new name is shown at once.
      ask: async request => {
        const answer = await plain.ask(request);
        const event: Event = answer;
        const me = plain.me()?.user;
        if (request.t === 'nickname' && event.t === 'nicknames' && me) this.#learn([me], event.names);
        return answer;
      },
    };
    const bound = new Map<PropertyKey, unknown>(Object.entries(instead));
    this.client = new Proxy(plain, {
      get(target, name) {
        if (!bound.has(name)) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          bound.set(name, value.bind(target));
        }
        return bound.get(name);
      },
    });
  }

  /** `version`: the number of the last change of a nickname in the room. */
  update(version: number): void {
    if (version === this.#version) return;
    const isFirst = this.#version === 0;
    this.#version = version;
    if (isFirst) return;
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const user of this.#known.keys()) this.#wanted.add(user);
    setTimeout(() => void this.#ask(), Math.random() * SPREAD);
  }

  #person(user: string): KnownPerson {
    const person = this.plain.person(user);
    if (!this.#known.has(user) && !this.#wanted.has(user)) {
      if (this.#wanted.size === 0) queueMicrotask(() => void this.#ask());
      this.#wanted.add(user);
    }
    const nickname = this.#known.get(user);
    if (nickname === undefined || person.displayName !== undefined || nickname === person.name) return person;
    const before = this.#named.get(person);
    if (before?.name === nickname) return before;
    const named = { ...person, name: nickname, displayName: person.name };
    this.#named.set(person, named);
    return named;
  }

  #subscribe(topic: Topic, listener: () => void): () => void {
    const leave = this.plain.subscribe(topic, listener);
    if (!topic.startsWith('person:')) return leave;
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      leave();
    };
  }

  /** Asks for all wanted names, one request after the other. Without a connection, the names are asked for when they are drawn again. */
  #ask(): Promise<void> {
    this.#asking ??= this.#askAll()
      .catch(() => this.#wanted.clear())
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  async #askAll(): Promise<void> {
    while (this.#wanted.size > 0) {
      const users = Array.from(this.#wanted).slice(0, MOST_AT_ONCE);
      const conversation = (await this.plain.rich()).idOf(this.key);
      const { names } = await this.plain.ask({ t: 'nicknames', conversation, users });
      this.#learn(users, names);
    }
  }

  /** Users who are not in `names` have no nickname. */
  #learn(users: readonly string[], names: readonly { user: string; nickname: string }[]): void {
    const nicknames = new Map(names.map(one => [one.user, one.nickname]));
    for (const user of users) {
      this.#wanted.delete(user);
      const before = this.#known.get(user);
      this.#known.set(user, nicknames.get(user));
      if (before === nicknames.get(user)) continue;
      for (const listener of [...(this.#listeners.get(`person:${user}`) ?? [])]) listener();
    }
  }
}

const namesOf = new WeakMap<Client, Map<ConversationKey, RoomNames>>();

/**
 * The context with a client that names persons as in this room. Undefined while no member of the room has had a nickname:
 * nothing is requested then.
 */
export function useRoomNames({ key, room }: Conversation): AppContextValue | undefined {
  const context = useAppContext();
  const { client } = context;
  const version = room?.role && room.nicknames;
  const has = Boolean(version);
  const names = useMemo(() => {
    if (!has) return undefined;
    const rooms = namesOf.get(client) ?? new Map<ConversationKey, RoomNames>();
    namesOf.set(client, rooms);
    const known = rooms.get(key) ?? new RoomNames(client, key);
    rooms.set(key, known);
    return known;
  }, [client, key, has]);
  useEffect(() => names?.update(version || 0), [names, version]);
  return useMemo(() => names && { ...context, client: names.client }, [context, names]);
}
