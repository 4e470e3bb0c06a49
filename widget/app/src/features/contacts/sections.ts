// Decides the rows of the Contacts tab and their order.

import type { Messages } from 'virtual:messages';
import type { ListedContact, Person, Presence } from '@kith/client';

export type Row =
  /** `more`: other entries are not loaded yet. */
  | { kind: 'heading'; id: string; text: string; count: number | undefined; more?: boolean }
  | { kind: 'request'; id: string; person: Person }
  | { kind: 'person'; id: string; person: Person };

interface Known {
  contacts: readonly ListedContact[];
  /** The server has more contacts than are loaded. */
  more: boolean;
  /** The loaded pages of the directory. Empty on sites where only contacts see each other. */
  directory: readonly Person[];
  me: string | undefined;
  presenceOf(user: string): Presence;
}

type Words = Pick<
  Messages['contacts'],
  'requests' | 'onlineNow' | 'yourContacts' | 'allPeople' | 'blockedPeople'
>;

/** The rows without a search: requests, online users, contacts, all members, blocked users. */
export function sections(known: Known, words: Words): Row[] {
  const requests = known.contacts.filter(one => one.state === 'request_received');
  const contacts = known.contacts.filter(one => one.state === 'contact' || one.state === 'request_sent');
  const blocked = known.contacts.filter(one => one.state === 'blocked');
  const hidden = new Set([...requests, ...blocked].map(one => one.user));
  const isContact = new Set(contacts.map(one => one.user));
  const others = known.directory.filter(
    one => one.user !== known.me && !hidden.has(one.user) && !isContact.has(one.user),
  );
  const online = [...contacts, ...others].filter(one => {
    const presence = known.presenceOf(one.user);
    return presence === 'online' || presence === 'away' || presence === 'busy';
  });
  return [
    ...section('requests', words.requests, requests, 'request'),
    ...section('online', words.onlineNow, online, 'person'),
    ...section('contacts', words.yourContacts, contacts, 'person', true, known.more),
    ...section('all', words.allPeople, others, 'person', false),
    ...section('blocked', words.blockedPeople, blocked, 'person'),
  ];
}

function section(
  id: string,
  text: string,
  people: readonly Person[],
  kind: 'person' | 'request',
  counted = true,
  more = false,
): Row[] {
  if (people.length === 0) return [];
  return [
    { kind: 'heading', id, text, count: counted ? people.length : undefined, ...(more && { more }) },
    ...people.map(person => ({ kind, id: `${id}:${person.user}`, person })),
  ];
}

/** The rows of a search: first the matches on this device, then those that only the server has found. */
export function found(query: string, known: Known, fromServer: readonly Person[]): Row[] {
  const wanted = folded(query)
    .split(/\s+/u)
    .filter(word => word !== '');
  const here = new Map<string, Person>();
  for (const person of [...known.contacts, ...known.directory, ...fromServer]) {
    if (person.user !== known.me && !here.has(person.user) && matches(person, wanted))
      here.set(person.user, person);
  }
  // The server may match more than `matches` does.
  for (const person of fromServer)
    if (person.user !== known.me && !here.has(person.user)) here.set(person.user, person);
  return Array.from(here.values(), person => ({ kind: 'person', id: `found:${person.user}`, person }));
}

/** True if every word of the query starts a word of the own or the display name, or if the query is the user id. */
function matches(person: Person & { displayName?: string }, wanted: readonly string[]): boolean {
  if (folded(person.user) === wanted.join(' ')) return true;
  const words = folded(`${person.name} ${person.displayName ?? ''}`).split(/[\s._-]+/u);
  return wanted.every(start => words.some(word => word.startsWith(start)));
}

/** Removes case and accents: "Jose" finds "José". */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase().trim();
}
