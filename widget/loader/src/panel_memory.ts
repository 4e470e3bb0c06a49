// Stores the open panel of this tab, so that the next page of the site opens it again.

import type { ConversationKey } from '@kith/client';
import { fieldsOf } from './fields_of.ts';

const TABS = ['chats', 'contacts', 'rooms', 'me'] as const;

/** The open parts of a panel. */
export interface OpenPanel {
  tab: (typeof TABS)[number];
  chat: ConversationKey | undefined;
  expanded: boolean;
}

export interface PanelMemory {
  /** The owner of the panel. Another user who signs in does not get it. */
  user: string;
  panel: OpenPanel;
}

/** The key in `sessionStorage`. Another tab, and the next visit, begin with a closed panel. */
const nameOf = (site: string) => `kith:${site}:panel`;

export function rememberPanel(site: string, memory: PanelMemory | undefined): void {
  try {
    if (memory) sessionStorage.setItem(nameOf(site), JSON.stringify(memory));
    else sessionStorage.removeItem(nameOf(site));
  } catch {
    // A browser may refuse storage; the panel then stays open for this page only.
  }
}

export function rememberedPanel(site: string): PanelMemory | undefined {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(nameOf(site)) ?? 'null');
    const { user, panel } = fieldsOf(found);
    return typeof user === 'string' ? { user, panel: checked(panel) } : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the stored value, because any script of the page may have written it. */
function checked(panel: unknown): OpenPanel {
  const { tab, chat, expanded } = fieldsOf(panel);
  return {
    tab: TABS.find(one => one === tab) ?? 'chats',
    chat: typeof chat === 'string' && /^[@#~].{1,200}$/.test(chat) ? (chat as ConversationKey) : undefined,
    expanded: expanded === true,
  };
}
