// Decides whether the member wants no notifications now.

import type { Client } from './client.ts';

/** False if the server does not answer. */
export async function isQuiet(client: Pick<Client, 'me' | 'notifications'>): Promise<boolean> {
  if (client.me()?.presence === 'busy') return true;
  try {
    const { quiet } = await client.notifications();
    return quiet !== undefined && isWithin(quiet, new Date());
  } catch {
    return false;
  }
}

/** Minutes of the day in local time. The range may include midnight. */
export function isWithin({ from, to }: { from: number; to: number }, now: Date): boolean {
  const minute = now.getHours() * 60 + now.getMinutes();
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}
