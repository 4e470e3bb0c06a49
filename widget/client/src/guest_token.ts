// Decides which guest token this browser stores.

import type { BrowserStorage } from './browser_storage.ts';
import type { Replica } from './replica.ts';
import { claims } from './token_claims.ts';
import type { Event } from './wire.ts';

/**
 * Stores the token of a guest once a message of the guest has arrived, because a reply must reach the same guest later.
 * Removes the stored token of any other guest. Call it after the event was applied.
 */
export function keepGuest(
  event: Event,
  asGuest: boolean,
  { me, guestToken }: Replica,
  stored: BrowserStorage,
  now: number,
): void {
  if (event.t !== 'ack' && event.t !== 'welcome') return;
  if (!asGuest || !me?.guest) return event.t === 'welcome' ? stored.forgetGuest() : undefined;
  const kept = stored.guest(now);
  const same = kept !== undefined && claims(kept).sub === me.user;
  if (guestToken !== undefined && (event.t === 'ack' || same)) {
    if (kept !== guestToken) stored.keepGuest(guestToken);
  } else if (!same) stored.forgetGuest();
}
