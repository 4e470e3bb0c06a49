// The users whose presence the tabs of this browser watch, and the `watch` commands for the server.

import type { Replica } from './replica.ts';
import type { Command, Event } from './wire.ts';

/** The watches of one tab. */
export interface Wanted {
  /** Watches all contacts, however many. New contacts are included without another command. */
  contacts: boolean;
  users: readonly string[];
  /** Users whose last-seen time is needed as well. */
  lastSeen: readonly string[];
}

/** The union of several watches. */
export function joined(all: readonly Wanted[]): Wanted {
  return {
    contacts: all.some(one => one.contacts),
    users: [...new Set(all.flatMap(one => one.users))],
    lastSeen: [...new Set(all.flatMap(one => one.lastSeen))],
  };
}

/** Changes are collected for this time before a command is sent. */
const SETTLE_MS = 150;
/** A user who is watched by name and of whom no event came within this time is offline. */
const UNSEEN_MS = 1_500;

export class PresenceWatch {
  #wanted = new Map<string, Wanted>();
  /** The last sent watch. Undefined: the server must get it again. */
  #said: { contacts: boolean; users: readonly string[] } | undefined;
  #sayAt: number | undefined;
  /** Users who are newly named and of whom no event has arrived yet. */
  #unseen = new Set<string>();
  #unseenAt: number | undefined;

  constructor(private readonly replica: Replica) {}

  want(tab: string, wanted: Wanted, now: number): void {
    if (wanted.contacts || wanted.users.length > 0) this.#wanted.set(tab, wanted);
    else this.#wanted.delete(tab);
    this.#sayAt ??= now + SETTLE_MS;
  }

  /** A new session has no watches yet. */
  welcomed(now: number): void {
    this.#said = undefined;
    this.#sayAt = this.#wanted.size > 0 ? now : undefined;
    this.#unseen.clear();
    this.#unseenAt = undefined;
  }

  /** Repeats the command at `at`, because it may have been refused. */
  refused(at: number): void {
    this.#said = undefined;
    this.#sayAt ??= at;
  }

  /** Call it before the event is applied. Such an event may change which users the command must name. */
  heard(event: Event, now: number): void {
    if (event.t === 'presence') this.#unseen.delete(event.user);
    if (event.t !== 'contact' && event.t !== 'contacts' && event.t !== 'watching') return;
    if (this.#wanted.size === 0) return;
    if (event.t === 'contact' && this.#parts(event.contact)) this.#said = undefined;
    this.#sayAt ??= now + SETTLE_MS;
  }

  /** The time at which to call `command` and `absent` again. */
  get due(): number | undefined {
    return this.#sayAt !== undefined && this.#unseenAt !== undefined
      ? Math.min(this.#sayAt, this.#unseenAt)
      : (this.#sayAt ?? this.#unseenAt);
  }

  /** The command to send now, if one is due and the watch has changed. */
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

  /** Users who are named in the watch and of whom no event came in time: the server reports only present users. */
  absent(now: number): readonly string[] {
    if (this.#unseenAt === undefined || this.#unseenAt > now) return [];
    this.#unseenAt = undefined;
    const users = [...this.#unseen];
    this.#unseen.clear();
    return users;
  }

  /** Users whom the command must name. Watching `contacts` brings no state of other users, nor of all contacts. */
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

  /** A user is no longer a contact. The server sends their presence again only after a new command. */
  #parts(contact: { user: string; state: string }): boolean {
    return this.replica.people.contacts.get(contact.user) === 'contact' && contact.state !== 'contact';
  }
}
