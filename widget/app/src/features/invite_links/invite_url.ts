// The address by which one comes into a room: a page of the site, and the code in its fragment, which no server gets to see.

/** The beginning of a fragment that is an invitation. */
export const INVITES = '#kith=join.';

export function addressOf(page: string, code: string): string {
  return `${page.split('#', 1)[0]}${INVITES}${code}`;
}

/** The code in a fragment; undefined where it is none. */
export function codeIn(hash: string): string | undefined {
  return /^#kith=join\.([\w-]{22})$/.exec(hash)?.[1];
}
