/** English. */

import type { Plural } from '../wording/wording.ts';

export const en = (plural: Plural) => ({
  search: 'Search people',
  requests: 'Requests',
  onlineNow: 'Online now',
  yourContacts: 'Your contacts',
  allPeople: 'All members',
  blockedPeople: 'Blocked',
  profile: 'Profile',
  people: 'People',
  accept: 'Accept',
  decline: 'Decline',
  block: 'Block',
  unblock: 'Unblock',
  addContact: 'Add to contacts',
  removeContact: 'Remove from contacts',
  takeBack: 'Take back request',
  requestSent: 'Request sent',
  wantsContact: 'would like to be your contact',
  noContacts: 'No contacts yet',
  noContactsHint: 'Search for somebody to add them.',
  nobodyFound: (query: string) => `Nobody found for “${query}”`,
  nobodyFoundHint: 'Check the spelling or try the start of the name.',
  strangerTitle: (name: string) => `${name} is not in your contacts yet`,
  asksYou: (name: string) => `${name} would like to be your contact`,
  asksYouHint: 'You can write to each other once you accept.',
  askedThem: (name: string) => `You have asked ${name}. You can write once they accept.`,
  blockedHint: (name: string) => `You have blocked ${name}.`,
  blockAsk: (name: string) => `Block ${name}?`,
  blockExplain: 'Nothing from them will reach you. They are not told.',
  results: (n: number) => plural(n, { one: '1 person found', other: `${n} people found` }),
  hereNow: 'Here now',
  report: 'Report',
});

export type PeopleWords = ReturnType<typeof en>;
