// Asks for a profile, and changes one's own.

import { type Client, type Event, type Profile, RequestError } from '@kith/client';

export type ProfileChange = Omit<Extract<Parameters<Client['ask']>[0], { t: 'change_profile' }>, 't'>;

/** Without a user one's own. */
export async function askProfile(client: Client, user?: string): Promise<Profile> {
  return profileOf(await client.ask({ t: 'profile', ...(user !== undefined && { user }) }));
}

export async function changeProfile(client: Client, change: ProfileChange): Promise<Profile> {
  return profileOf(await client.ask({ t: 'change_profile', ...change }));
}

function profileOf(event: Event): Profile {
  if (event.t !== 'profile') throw new RequestError('internal');
  return event.profile;
}
