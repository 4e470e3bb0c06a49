// Stores the open windows of a member, so that the site's next page shows them too.

import type { ConversationKey } from '@kith/client';
import { type Arrangement, NOTHING } from './window_layout.ts';

/** The key in local storage. Nothing is stored until the member opens a window. */
const nameOf = (site: string) => `kith:${site}:bar`;

/** The stored windows of this member. Windows of another member of this browser are ignored. */
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
    // The browser may refuse storage. The windows are then lost when the page unloads.
  }
}

/** Validates the stored value, because any script of the page may have written it. */
function keys(from: unknown): ConversationKey[] {
  if (!Array.isArray(from)) return [];
  return from
    .filter((one): one is ConversationKey => typeof one === 'string' && /^[@#~].{1,200}$/.test(one))
    .slice(0, 12);
}
