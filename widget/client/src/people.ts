// People of the site, as far as they are known here: names, who is a contact, who is here.

import type { ChangedTopics } from './changed_topics.ts';
import { direct, type KnownPerson, type PresenceView } from './client.ts';
import { FIRST_PAGE, type Snapshot } from './snapshot.ts';
import type { Contact, ContactState, Event, Person, Presence } from './wire.ts';

export const UNKNOWN: PresenceView = { presence: 'unknown' };
const OFFLINE: PresenceView = { presence: 'offline' };

export class People {
  readonly byUser = new Map<string, KnownPerson>();
  readonly contacts = new Map<string, ContactState>();
  contactPages = FIRST_PAGE;
  readonly presences = new Map<string, PresenceView>();
  /** Which contacts who are here the server has named. After `all`, of whom it has said nothing is not here. */
  contactsTold: 'no' | 'some' | 'all' = 'no';

  constructor(
    private readonly changed: ChangedTopics,
    private readonly me: () => string | undefined,
  ) {}

  presenceOf(user: string): PresenceView {
    const unnamed = this.contactsTold === 'all' && this.contacts.get(user) === 'contact' ? OFFLINE : UNKNOWN;
    return this.presences.get(user) ?? unnamed;
  }

  met(person: Person): void {
    const { user, name, avatar, guest = false, presence } = person;
    const old = this.byUser.get(user);
    if (presence !== undefined && user !== this.me()) this.shows(user, presence, this.#lastSeen(user));
    if (old && old.name === name && old.avatar === avatar && old.guest === guest) return;
    this.byUser.set(user, { user, name, guest, ...(avatar !== undefined && { avatar }) });
    if (user === this.me()) this.changed.add('me');
    this.changed.add(`person:${user}`).add(`conversation:${direct(user)}`);
    if (this.contacts.has(user)) this.changed.add('contacts');
  }

  contact(contact: Contact): void {
    this.met(contact);
    const before = this.contacts.get(contact.user);
    if (contact.state === 'none') this.contacts.delete(contact.user);
    else this.contacts.set(contact.user, contact.state);
    if (before === 'contact' && contact.state !== 'contact') this.#parted(contact);
    this.changed.add('contacts').add('totals').add(`person:${contact.user}`).add(`presence:${contact.user}`);
  }

  shows(user: string, presence: Presence, lastSeen?: number): void {
    const old = this.presences.get(user);
    const at = presence === 'offline' ? lastSeen : undefined;
    if (old?.presence === presence && old.lastSeen === at) return;
    this.presences.set(user, { presence, ...(at !== undefined && { lastSeen: at }) });
    this.changed.presence(user);
  }

  /** They are watched by name, and the server has said nothing of them. */
  absent(users: readonly string[]): void {
    for (const user of users) this.shows(user, 'offline', this.#lastSeen(user));
  }

  /**
   * The present contacts, and so the absent ones. If not all contacts are named, earlier presence of the
   * others stays valid.
   */
  watching(event: Event & { t: 'watching' }): void {
    const here = new Set<string>();
    for (const presence of ['online', 'away', 'busy'] as const) {
      for (const user of event[presence] ?? []) {
        here.add(user);
        this.shows(user, presence);
      }
    }
    const told = event.more ? 'some' : 'all';
    const first = told !== this.contactsTold;
    this.contactsTold = told;
    if (event.more && !first) return;
    for (const [user, state] of this.contacts) {
      if (state !== 'contact' || here.has(user)) continue;
      if (event.more) this.presences.delete(user);
      if (first) this.changed.presence(user);
      if (this.presences.has(user)) this.shows(user, 'offline', this.#lastSeen(user));
    }
  }

  /** Contacts are watched no more. What was told of all is told anew with the next watch; of some it would not be. */
  unwatched(): void {
    if (this.contactsTold === 'some') this.contactsTold = 'no';
  }

  /** The own connection came or went. */
  allPresencesChanged(): void {
    for (const user of [...this.presences.keys(), ...this.contacts.keys()]) this.changed.presence(user);
  }

  forgetPresences(): void {
    this.allPresencesChanged();
    this.presences.clear();
    this.contactsTold = 'no';
  }

  /** Names stay: they are asked for one by one. */
  forgetContacts(): void {
    this.forgetPresences();
    this.contacts.clear();
    this.contactPages = FIRST_PAGE;
    this.changed.add('contacts').add('totals');
  }

  snapshot(): Pick<Snapshot, 'people' | 'contacts' | 'contactPages' | 'presences' | 'contactsTold'> {
    return {
      people: [...this.byUser.values()],
      contacts: [...this.contacts],
      contactPages: this.contactPages,
      presences: [...this.presences].map(([user, { presence, lastSeen }]) => [user, presence, lastSeen]),
      contactsTold: this.contactsTold,
    };
  }

  restore(from: ReturnType<People['snapshot']>): void {
    for (const one of from.people) this.byUser.set(one.user, one);
    for (const [user, state] of from.contacts) this.contacts.set(user, state);
    this.contactPages = from.contactPages;
    for (const [user, presence, lastSeen] of from.presences) this.shows(user, presence, lastSeen);
    this.contactsTold = from.contactsTold;
    this.changed.add('contacts');
  }

  /** Kept where a record says the presence alone. */
  #lastSeen(user: string): number | undefined {
    return this.presences.get(user)?.lastSeen;
  }

  /** The server tells no more of somebody who was told of as a contact, or that they are not to be seen. */
  #parted({ user, state }: Contact): void {
    if (state === 'blocked') return this.shows(user, 'offline');
    this.presences.delete(user);
    this.changed.presence(user);
  }
}
