// The open windows of a member, so that the next page of the site has them too.

import type { ConversationKey } from '@kith/client';
import { type Arrangement, NOTHING } from './window_layout.ts';

/** Written when a window is opened first; before that nothing of it is stored. */
const nameOf = (site: string) => `kith:${site}:bar`;

/** Of this member; what another one has left in this browser is not shown. */
export function kept(site: string, user: string): Arrangement {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(nameOf(site)) ?? 'null');
    const { user: whose, windows, heads } = (found ?? {}) as Record<string, unknown>;
    return whose === user ? { windows: keys(windows), heads: keys(heads) } : NOTHING;
  } catch {
    return NOTHING;
  }
}

export function keep(site: string, user: string, { windows, heads }: Arrangement): void {
  try {
    if (windows.length + heads.length === 0) localStorage.removeItem(nameOf(site));
    else localStorage.setItem(nameOf(site), JSON.stringify({ user, windows, heads }));
  } catch {
    // A browser may refuse storage; the windows then last as long as the page.
  }
}

/** Any script of the page may have written there. */
function keys(from: unknown): ConversationKey[] {
  if (!Array.isArray(from)) return [];
  return from
    .filter((one): one is ConversationKey => typeof one === 'string' && /^[@#~].{1,200}$/.test(one))
    .slice(0, 12);
}
