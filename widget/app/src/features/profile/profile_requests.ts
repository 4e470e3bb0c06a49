// Requests a user's profile, and changes the member's own.

import type { Client, Profile } from '@kith/client';

export type ProfileChange = Omit<Extract<Parameters<Client['ask']>[0], { t: 'change_profile' }>, 't'>;

/** Without `user`: the member's own profile. */
export async function askProfile(client: Client, user?: string): Promise<Profile> {
  return (await client.ask({ t: 'profile', ...(user !== undefined && { user }) })).profile;
}

export async function changeProfile(client: Client, change: ProfileChange): Promise<Profile> {
  return (await client.ask({ t: 'change_profile', ...change })).profile;
}
