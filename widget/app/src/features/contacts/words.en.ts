/** English. */

import type { Plural } from '../../wording/wording.ts';

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
  takeBack: 'Cancel request',
  requestSent: 'Request sent',
  wantsContact: 'wants to add you as a contact',
  noContacts: 'No contacts yet',
  noContactsHint: 'Search for people to add them.',
  nobodyFound: (query: string) => `No people found for “${query}”`,
  nobodyFoundHint: 'Check the spelling or try the start of the name.',
  strangerTitle: (name: string) => `${name} is not in your contacts`,
  asksYou: (name: string) => `${name} wants to add you as a contact`,
  asksYouHint: 'Accept the request to message each other.',
  askedThem: (name: string) => `You sent ${name} a contact request. You can write when they accept.`,
  blockedHint: (name: string) => `You blocked ${name}.`,
  blockAsk: (name: string) => `Block ${name}?`,
  blockExplain:
    'They cannot message or call you. You leave private rooms that only they own; in other rooms their messages are collapsed. They are not notified.',
  blockedMessage: 'Message from somebody you blocked',
  showBlocked: 'Show message',
  results: (n: number) => plural(n, { one: '1 person found', other: `${n} people found` }),
  hereNow: 'Online now',
  report: 'Report',
});

export type PeopleWords = ReturnType<typeof en>;
