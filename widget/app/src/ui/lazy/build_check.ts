// Checks whether the server still has the files of this page's build. After several upgrades it has removed them,
// and lazy parts can no longer load.

import { useEffect, useState } from 'preact/hooks';

let gone = false;
let checking = false;
const listeners = new Set<() => void>();

/** Call it if a part could not be fetched. Only a 404 for this file means that the build is gone. */
export async function checkBuild(own: string = import.meta.url, get: typeof fetch = fetch): Promise<void> {
  if (gone || checking) return;
  checking = true;
  try {
    const answer = await get(own, { method: 'HEAD', cache: 'no-store' });
    gone = answer.status === 404;
  } catch {
    // The next part that fails repeats the check.
  } finally {
    checking = false;
  }
  if (gone) for (const listener of listeners) listener();
}

export function useBuildGone(): boolean {
  const [shown, show] = useState(gone);
  useEffect(() => {
    const listener = () => show(true);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return shown;
}

/** Resets the result, for tests. */
export function forgetBuild(): void {
  gone = false;
}
