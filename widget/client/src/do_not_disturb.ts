// Whether the member wants to be left alone now.

import type { Client } from './client.ts';

/** Where the server does not say, they do not. */
export async function isQuiet(client: Pick<Client, 'me' | 'notifications'>): Promise<boolean> {
  if (client.me()?.presence === 'busy') return true;
  try {
    const { quiet } = await client.notifications();
    return quiet !== undefined && isWithin(quiet, new Date());
  } catch {
    return false;
  }
}

/** Minutes of the day as the clock here shows it; the hours may go over midnight. */
export function isWithin({ from, to }: { from: number; to: number }, now: Date): boolean {
  const minute = now.getHours() * 60 + now.getMinutes();
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}
