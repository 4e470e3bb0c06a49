// Links to files: their addresses, and new links after old ones have expired.

import type { Client, SentFile } from '@kith/client';

export function addressOf(client: Client, url: string): string {
  return url.startsWith('/') ? client.server + url : url;
}

/** The link has expired, or expires within a minute. */
export function isOver(url: string, now: number): boolean {
  const end = Number(new URLSearchParams(url.split('?')[1]).get('e') ?? Number.POSITIVE_INFINITY);
  return end * 1_000 < now + 60_000;
}

/** Requests new links for the file. */
export async function renewed(client: Client, url: string): Promise<SentFile> {
  const [path] = url.match(/\/v1\/files\/\d+\/[0-9a-f]{16}/) ?? [];
  const { token } = await client.access();
  const response = await fetch(`${client.server}${path}`, {
    headers: { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0' },
    credentials: 'omit',
    cache: 'no-store',
  });
  if (!response.ok) throw new Error(`a file is refused with ${response.status}`);
  return response.json() as Promise<SentFile>;
}

export async function fetchFile(client: Client, file: SentFile, thumbnail: boolean): Promise<Blob> {
  const link = ({ url, thumb }: SentFile) => addressOf(client, (thumbnail && thumb) || url);
  const get = (url: string) => fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' });
  const old = isOver(file.url, Date.now()) ? undefined : await get(link(file));
  if (old?.ok) return old.blob();
  if (old && old.status !== 403) throw new Error(`a file is refused with ${old.status}`);
  const response = await get(link(await renewed(client, file.url)));
  if (!response.ok) throw new Error(`a file is refused with ${response.status}`);
  return response.blob();
}
