// Keeps an invitation that a visitor opened before signing in. It stays in this tab, because signing in may
// load another page.

/** The loader reads this key after a member has connected. */
export const WAITING = 'kith:invitation';

/** If the browser refuses storage, the visitor must open the link again after signing in. */
export function letWait(hash: string): void {
  try {
    sessionStorage.setItem(WAITING, hash);
  } catch {
    // The invitation is not kept.
  }
}
