// The address of an invite link: a page of the site with the code in the fragment, because browsers send
// no fragment to a server.

/** The prefix of a fragment that contains an invite code. */
export const INVITES = '#kith=join.';

export function addressOf(page: string, code: string): string {
  return `${page.split('#', 1)[0]}${INVITES}${code}`;
}

/** The invite code in a fragment; undefined if the fragment contains no valid one. */
export function codeIn(hash: string): string | undefined {
  return /^#kith=join\.([\w-]{22})$/.exec(hash)?.[1];
}
