/** English: links that invite into rooms. */

import type { Plural } from '../../wording/wording.ts';

export const en = (plural: Plural) => ({
  linkHint: 'Anyone with the link can join until it expires or you revoke it.',
  linkExpiresAfter: 'Expires after',
  linkDays: (n: number) => plural(n, { one: '1 day', other: `${n} days` }),
  linkYear: '1 year',
  linkFor: 'Maximum uses',
  linkForAll: 'No limit',
  linkForPeople: (n: number) => plural(n, { one: '1 person', other: `${n} people` }),
  linkMake: 'Create link',
  linkMade: 'Link created.',
  activeLinks: 'Active links',
  linksNone: 'No active links.',
  link: 'Link',
  linkCopy: 'Copy link',
  linkCopied: 'Link copied',
  linkShare: 'Share link',
  linkBy: (name: string) => `Created by ${name}`,
  linkUntil: (when: string) => `expires ${when}`,
  linkUsed: (n: number) =>
    n === 0 ? 'not used yet' : plural(n, { one: '1 person joined', other: `${n} people joined` }),
  linkUsedOf: (n: number, all: number) => `${n} of ${all} joined`,
  linkRevoke: 'Revoke',
  linkRevokeAsk: 'Revoke this link?',
  linkRevokeExplain: 'Nobody can join with it any more. People who already joined stay.',
  linkRevoked: 'Link revoked',
  linkTooMany: 'This room has reached the maximum number of links. Revoke one first.',
  linkNotAllowed: 'Only owners and moderators can create links here.',
  invitation: 'Invitation',
  invitedBy: (name: string) => `${name} invited you`,
  invitedUntil: (when: string) => `The invitation expires ${when}.`,
  notNow: 'Not now',
  invitationOver: 'This invitation is no longer valid',
  invitationOverHint: 'It expired, was revoked, or reached its maximum number of uses. Ask for a new link.',
  invitationOffline: 'You are offline. Open the link again later.',
  invitationSignIn: 'Sign in to this site to open the invitation.',
  invitationOk: 'OK',
});

export type InvitationWords = ReturnType<typeof en>;
