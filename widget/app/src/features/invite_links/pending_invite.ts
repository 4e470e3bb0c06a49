// An invitation that was opened before anybody was signed in: it waits in this tab, for people sign in on a page of their own.

/** The loader takes it from there once somebody is connected. */
export const WAITING = 'kith:invitation';

/** A browser may refuse storage: then the link is opened once more by hand. */
export function letWait(hash: string): void {
  try {
    sessionStorage.setItem(WAITING, hash);
  } catch {
    // As said above.
  }
}
