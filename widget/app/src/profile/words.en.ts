/** English. */

import type { Plural } from '../wording/wording.ts';

export const en = (plural: Plural) => ({
  profile: 'Profile',
  yourProfile: 'Your profile',
  siteRoles: { moderator: 'Moderator', admin: 'Admin' } as Record<string, string>,
  statusUntil: (when: string) => `until ${when}`,
  profileGone: 'This profile cannot be shown.',

  account: 'Account',
  status: 'Status',
  statusHint: 'What you are up to, for all who open your profile',
  statusNone: 'Set a status',
  statusPlaceholder: '🌴 On holiday',
  statusEnds: 'Goes away',
  ends: {
    never: 'Never',
    hour: 'In an hour',
    fourHours: 'In four hours',
    today: 'Tonight at midnight',
    week: 'In a week',
  },
  endsAsNow: (when: string) => `As now: ${when}`,
  clearStatus: 'Clear status',
  yourName: 'Your name',
  yourNameHint: 'Leave it empty for the name from this site.',
  saved: 'Saved',
  profileFailed: {
    filtered: 'A word or a link in it is not wanted on this site.',
    bad_value: 'That is too long, or has characters that cannot be shown.',
    other: 'That could not be saved. Try again when you are connected.',
  } as Record<string, string>,

  privacy: 'Privacy',
  privacyHint: 'Who may write to you, and see you',
  mayWrite: 'Who may start a chat with you',
  mayWriteHint: 'Chats that are there go on; block somebody to end one.',
  seePresence: 'Who sees that you are here',
  seeLastSeen: 'Who sees when you were here last',
  seeLastSeenHint: 'Whoever may not see that you are here does not see this either.',
  audiences: { everybody: 'Everybody', contacts: 'My contacts', nobody: 'Nobody' },
  nobodyNew: 'Nobody new',
  invisibleToo: 'To be unseen just for now, choose “Invisible” as your status.',

  blocked: 'Blocked',
  blockedCount: (n: number) => plural(n, { one: '1 person', other: `${n} people` }),
  blockedNobody: 'Nobody is blocked',
  blockedHint: 'Nothing from them reaches you. They are not told.',
  devices: 'Devices',
  devicesRow: 'Where you are signed in',
  devicesHint:
    'A device that you sign out needs a new sign-in on this site. If you do not know one of them, change your password there, too.',
  deviceName: (browser: string | undefined, system: string | undefined) =>
    browser && system ? `${browser} on ${system}` : (browser ?? system ?? 'A browser or app'),
  thisDevice: 'This device',
  signOut: 'Sign out',
  signOutOf: (name: string) => `Sign out of ${name}`,
  deviceIsOut: 'The device is signed out',

  yourData: 'Your data',
  yourDataHint: 'A copy of it, or the end of it',
  yourDataCopy: 'A copy of what is kept of you',
  copyTitle: 'A copy of your data',
  copyHint:
    'Your profile, your contacts, your direct chats, and what you have written in rooms, as one file of JSON lines. Files you have sent are named, not included.',
  copySave: 'Save a copy',
  copyLines: (n: number, number: string) =>
    plural(n, { one: '1 line so far', other: `${number} lines so far` }),
  copyDone: 'Your copy is saved.',
  removeTitle: 'Remove my account',
  removeHint: 'Your name, picture, contacts and rooms go, and you are signed out everywhere.',
  removeMessages: 'Also delete everything I have written',
  removeAsk: 'Remove your account?',
  removeExplain: 'There is no way back. What you have written stays, without your name.',
  removeExplainAll: 'There is no way back. What you have written is deleted for all.',

  unblockOne: (name: string) => `Unblock ${name}`,
});

export type ProfileWords = ReturnType<typeof en>;
