// Known people of the site: their names, contact states and presence.

import type { ChangedTopics } from './changed_topics.ts';
import { direct, type KnownPerson, type PresenceView } from './client.ts';
import { FIRST_PAGE, type Snapshot } from './snapshot.ts';
import type { Contact, ContactState, Event, Person, Presence } from './wire.ts';

export const UNKNOWN: PresenceView = { presence: 'unknown' };
const OFFLINE: PresenceView = { presence: 'offline' };

type Face = Omit<Person, 'user' | 'presence'> & Pick<KnownPerson, 'displayName'>;

export const sameFace = (a: Face, b: Face): boolean =>
  a.name === b.name &&
  a.displayName === b.displayName &&
  a.avatar === b.avatar &&
  a.picture === b.picture &&
  a.guest === b.guest;

export class People {
  readonly byUser = new Map<string, KnownPerson>();
  readonly contacts = new Map<string, ContactState>();
  contactPages = FIRST_PAGE;
  readonly presences = new Map<string, PresenceView>();
  /** Which of the present contacts the server has named. After `all`, contacts without a known presence are offline. */
  contactsTold: 'no' | 'some' | 'all' = 'no';

  constructor(
    private readonly changed: ChangedTopics,
    private readonly me: () => string | undefined,
  ) {}

  presenceOf(user: string): PresenceView {
    const unnamed = this.contactsTold === 'all' && this.contacts.get(user) === 'contact' ? OFFLINE : UNKNOWN;
    return this.presences.get(user) ?? unnamed;
  }

  /** `own`: the member's own name for the person, or empty. Undefined: as before. */
  met({ user, name, avatar, picture, guest = false, presence }: Person, own?: string): void {
    const old = this.byUser.get(user);
    if (presence !== undefined && user !== this.me()) this.shows(user, presence, this.#lastSeen(user));
    const shown = own ?? (old?.displayName && old.name);
    const now: KnownPerson = {
      user,
      name: shown || name,
      guest,
      ...(shown && { displayName: name }),
      ...(avatar && { avatar }),
      ...(picture && { picture }),
    };
    if (old && sameFace(old, now)) return;
    this.byUser.set(user, now);
    if (user === this.me()) this.changed.add('me');
    this.changed.add(`person:${user}`).add(`conversation:${direct(user)}`);
    if (this.contacts.has(user)) this.changed.add('contacts');
  }

  contact(contact: Contact): void {
    this.met(contact, (contact.state !== 'none' && contact.own_name) || '');
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

  /** Marks users as offline who are watched by name and of whom the server has sent nothing. */
  absent(users: readonly string[]): void {
    for (const user of users) this.shows(user, 'offline', this.#lastSeen(user));
  }

  /**
   * Applies the list of present contacts; contacts that it does not name are offline. If the list is not complete
   * (`more`), the presence of the others is unknown, and after a second such list it stays valid.
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

  /** Contacts are no longer watched. If the next watch lists only some of them, that list must count as the first. */
  unwatched(): void {
    if (this.contactsTold === 'some') this.contactsTold = 'no';
  }

  /** The client's own connection was made or lost. */
  allPresencesChanged(): void {
    for (const user of [...this.presences.keys(), ...this.contacts.keys()]) this.changed.presence(user);
  }

  forgetPresences(): void {
    this.allPresencesChanged();
    this.presences.clear();
    this.contactsTold = 'no';
  }

  /** Display names are kept: they do not depend on the list of contacts. */
  forgetContacts(): void {
    this.forgetPresences();
    for (const one of this.byUser.values())
      if (one.displayName) this.met({ ...one, name: one.displayName }, '');
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

  /** The known time, which is kept if a record has the presence only. */
  #lastSeen(user: string): number | undefined {
    return this.presences.get(user)?.lastSeen;
  }

  /** A former contact: the server sends their presence no more. A blocked user is shown as offline. */
  #parted({ user, state }: Contact): void {
    if (state === 'blocked') return this.shows(user, 'offline');
    this.presences.delete(user);
    this.changed.presence(user);
  }
}
