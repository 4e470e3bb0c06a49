// Whether the server still has the files of this page's build. After several upgrades it does not, and parts that come late stay away.

import { useEffect, useState } from 'preact/hooks';

let gone = false;
let checking = false;
const listeners = new Set<() => void>();

/** Called when a part could not be fetched. A network that is down says nothing about the build; a 404 for this very file does. */
export async function checkBuild(own: string = import.meta.url, get: typeof fetch = fetch): Promise<void> {
  if (gone || checking) return;
  checking = true;
  try {
    const answer = await get(own, { method: 'HEAD', cache: 'no-store' });
    gone = answer.status === 404;
  } catch {
    // Asked again with the next part.
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

/** For tests. */
export function forgetBuild(): void {
  gone = false;
}
