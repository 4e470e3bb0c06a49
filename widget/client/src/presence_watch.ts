// The presence that the tabs of this browser watch, and the watch commands for the server.

import type { Replica } from './replica.ts';
import type { Command, Event } from './wire.ts';

/** The wishes of one tab. */
export interface Wanted {
  /** All contacts, however many: who becomes one enters by itself. */
  contacts: boolean;
  users: readonly string[];
  /** Of these also when they were last here. */
  lastSeen: readonly string[];
}

/** The wishes of several callers together. */
export function joined(all: readonly Wanted[]): Wanted {
  return {
    contacts: all.some(one => one.contacts),
    users: [...new Set(all.flatMap(one => one.users))],
    lastSeen: [...new Set(all.flatMap(one => one.lastSeen))],
  };
}

/** Changes are collected for so long. */
const SETTLE_MS = 150;
/** A user who is watched by name and of whom no event came within this time is offline. */
const UNSEEN_MS = 1_500;

export class PresenceWatch {
  #wanted = new Map<string, Wanted>();
  /** Undefined: the server does not know what we watch. */
  #said: { contacts: boolean; users: readonly string[] } | undefined;
  #sayAt: number | undefined;
  /** Named anew and not told of yet. */
  #unseen = new Set<string>();
  #unseenAt: number | undefined;

  constructor(private readonly replica: Replica) {}

  want(tab: string, wanted: Wanted, now: number): void {
    if (wanted.contacts || wanted.users.length > 0) this.#wanted.set(tab, wanted);
    else this.#wanted.delete(tab);
    this.#sayAt ??= now + SETTLE_MS;
  }

  /** A new session knows nothing of it. */
  welcomed(now: number): void {
    this.#said = undefined;
    this.#sayAt = this.#wanted.size > 0 ? now : undefined;
    this.#unseen.clear();
    this.#unseenAt = undefined;
  }

  /** The command may have been refused: it is repeated at `at`. */
  refused(at: number): void {
    this.#said = undefined;
    this.#sayAt ??= at;
  }

  /** Call before the event is applied. Who is a contact, and of whom more is known, need not be named. */
  heard(event: Event, now: number): void {
    if (event.t === 'presence') this.#unseen.delete(event.user);
    if (event.t !== 'contact' && event.t !== 'contacts' && event.t !== 'watching') return;
    if (this.#wanted.size === 0) return;
    if (event.t === 'contact' && this.#parts(event.contact)) this.#said = undefined;
    this.#sayAt ??= now + SETTLE_MS;
  }

  /** When to ask for `command` and `absent` again. */
  get due(): number | undefined {
    return this.#sayAt !== undefined && this.#unseenAt !== undefined
      ? Math.min(this.#sayAt, this.#unseenAt)
      : (this.#sayAt ?? this.#unseenAt);
  }

  /** The command to send now. */
  command(now: number): (Command & { t: 'watch' }) | undefined {
    if (this.#sayAt === undefined || this.#sayAt > now) return undefined;
    this.#sayAt = undefined;
    const wanted = joined([...this.#wanted.values()]);
    const { contacts } = wanted;
    const limit = this.replica.limits?.watch ?? 100;
    const users = [...this.#named(wanted)].slice(0, limit).sort();
    const before = new Set(this.#said?.users);
    if (
      this.#said?.contacts === contacts &&
      before.size === users.length &&
      users.every(user => before.has(user))
    )
      return undefined;
    this.#said = { contacts, users };
    this.#unseen = new Set(users.filter(user => !before.has(user) || this.#unseen.has(user)));
    this.#unseenAt = now + UNSEEN_MS;
    return { t: 'watch', ...(contacts && { contacts }), users };
  }

  /** The server tells who is here; of these it has said nothing, or what was known of them is old. */
  absent(now: number): readonly string[] {
    if (this.#unseenAt === undefined || this.#unseenAt > now) return [];
    this.#unseenAt = undefined;
    const users = [...this.#unseen];
    this.#unseen.clear();
    return users;
  }

  /** Of contacts who are watched without a name, those of whom that does not tell enough. */
  #named({ contacts, users, lastSeen }: Wanted): Set<string> {
    const { people } = this.replica;
    const covered = (user: string) => contacts && people.contacts.get(user) === 'contact';
    const unnamed = (user: string) => people.contactsTold === 'some' && !people.presences.has(user);
    const timeless = (user: string) => {
      const view = people.presenceOf(user);
      return people.contactsTold !== 'no' && view.presence === 'offline' && view.lastSeen === undefined;
    };
    return new Set([
      ...users.filter(user => !covered(user) || unnamed(user)),
      ...lastSeen.filter(user => !covered(user) || timeless(user)),
    ]);
  }

  /** A contact is none any more: who is named all the while is told of anew only if it is said anew. */
  #parts(contact: { user: string; state: string }): boolean {
    return this.replica.people.contacts.get(contact.user) === 'contact' && contact.state !== 'contact';
  }
}
