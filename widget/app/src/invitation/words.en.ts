/** English: links that invite into rooms. */

import type { Plural } from '../wording/wording.ts';

export const en = (plural: Plural) => ({
  linkHint: 'Whoever has the link can join, until it ends or you take it back.',
  linkHolds: 'It holds for',
  linkDays: (n: number) => plural(n, { one: '1 day', other: `${n} days` }),
  linkYear: 'A year',
  linkFor: 'It is for',
  linkForAll: 'Everybody',
  linkForPeople: (n: number) => plural(n, { one: '1 person', other: `${n} people` }),
  linkMake: 'Make a link',
  linkMade: 'The link is made. It holds from now on.',
  linksThatHold: 'Links that hold',
  linksNone: 'There is no link yet.',
  link: 'Link',
  linkCopy: 'Copy the link',
  linkCopied: 'Link copied',
  linkShare: 'Share the link',
  linkBy: (name: string) => `By ${name}`,
  linkUntil: (when: string) => `until ${when}`,
  linkUsed: (n: number) =>
    n === 0
      ? 'nobody has come by it yet'
      : plural(n, { one: '1 person has come by it', other: `${n} people have come by it` }),
  linkUsedOf: (n: number, all: number) => `${n} of ${all} have come by it`,
  linkTakeBack: 'Take back',
  linkTakeBackAsk: 'Take this link back?',
  linkTakeBackExplain: 'Nobody joins by it any more. Those who have come by it stay.',
  linkTakenBack: 'The link is taken back',
  linkTooMany: 'This room has as many links as it may. Take one back first.',
  linkNotAllowed: 'Here only owners and moderators make links.',
  invitation: 'Invitation',
  invitedBy: (name: string) => `${name} invites you`,
  invitedUntil: (when: string) => `The invitation holds until ${when}.`,
  notNow: 'Not now',
  invitationOver: 'This invitation holds no longer',
  invitationOverHint:
    'It has ended, was used up, or was taken back. Ask whoever gave you the link for a new one.',
  invitationOffline: 'There is no connection. Open the link again later.',
  invitationSignIn: 'Sign in on this site, and the invitation opens by itself.',
  invitationOk: 'All right',
});

export type InvitationWords = ReturnType<typeof en>;
