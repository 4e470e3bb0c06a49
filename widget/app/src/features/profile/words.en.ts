/** English. */

import type { Plural } from '../../wording/wording.ts';

export const en = (plural: Plural) => ({
  profile: 'Profile',
  yourProfile: 'Your profile',
  siteRoles: { moderator: 'Moderator', admin: 'Admin' } as Record<string, string>,
  statusUntil: (when: string) => `until ${when}`,
  profileGone: 'This profile is not available.',

  account: 'Account',
  status: 'Status',
  statusHint: 'Everyone who opens your profile sees it',
  statusNone: 'Set a status',
  statusPlaceholder: '🌴 On holiday',
  statusEnds: 'Clear after',
  ends: {
    never: 'Never',
    hour: '1 hour',
    fourHours: '4 hours',
    today: 'Today',
    week: '1 week',
  },
  endsAsNow: (when: string) => `Keep: ${when}`,
  clearStatus: 'Clear status',
  yourName: 'Your name',
  yourNameHint: 'Leave empty to use your name from this site.',
  saved: 'Saved',
  profileFailed: {
    filtered: 'It contains a word or link that this site does not allow.',
    bad_value: 'It is too long or contains characters that are not allowed.',
    other: 'Could not save. Try again when you are connected.',
  } as Record<string, string>,

  privacy: 'Privacy',
  privacyHint: 'Who can message you and see when you are online',
  mayWrite: 'Who can start a chat with you',
  mayWriteHint: 'Existing chats continue. Block a person to end a chat.',
  seePresence: 'Who can see when you are online',
  seeLastSeen: 'Who can see your last seen time',
  seeLastSeenHint: 'People who cannot see when you are online cannot see this either.',
  audiences: { everybody: 'Everyone', contacts: 'My contacts', nobody: 'Nobody' },
  nobodyNew: 'Nobody',
  invisibleToo: 'To hide for a while only, set your status to “Invisible”.',

  blocked: 'Blocked',
  blockedCount: (n: number) => plural(n, { one: '1 person', other: `${n} people` }),
  blockedNobody: 'No blocked people',
  blockedHint: 'You receive no messages or calls from them. They are not notified.',
  devices: 'Devices',
  devicesRow: 'Where you are signed in',
  devicesHint:
    'A device that you sign out must sign in to this site again. If you do not recognize a device, also change your password.',
  deviceName: (browser: string | undefined, system: string | undefined) =>
    browser && system ? `${browser} on ${system}` : (browser ?? system ?? 'A browser or app'),
  thisDevice: 'This device',
  signOut: 'Sign out',
  signOutOf: (name: string) => `Sign out of ${name}`,
  deviceIsOut: 'Device signed out',

  yourData: 'Your data',
  yourDataHint: 'Download a copy or delete your account',
  yourDataCopy: 'Download a copy of your data',
  copyTitle: 'Copy of your data',
  copyHint:
    'One JSON Lines file with your profile, contacts, direct chats and your messages in rooms. Files that you sent are listed but not included.',
  copySave: 'Download',
  copyLines: (n: number, number: string) =>
    plural(n, { one: '1 line so far', other: `${number} lines so far` }),
  copyDone: 'Download complete.',
  removeTitle: 'Delete my account',
  removeHint: 'This deletes your name, picture, contacts and room memberships, and signs you out everywhere.',
  removeMessages: 'Also delete all my messages',
  removeAsk: 'Delete your account?',
  removeExplain: 'This cannot be undone. Your messages stay without your name.',
  removeExplainAll: 'This cannot be undone. Your messages are deleted for everyone.',

  unblockOne: (name: string) => `Unblock ${name}`,
});

export type ProfileWords = ReturnType<typeof en>;
