// The open panel of this tab, so that the next page of the site shows it as it was.

/** What the app gives and gets back; only the app reads what is in it. */
export interface PanelMemory {
  /** Whose panel it is: somebody else who signs in does not get it. */
  user: string;
  panel: unknown;
}

/** In the tab alone: another tab, and the next visit, begin with a closed panel. */
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
    const { user, panel } = (found ?? {}) as Partial<PanelMemory>;
    return typeof user === 'string' ? { user, panel } : undefined;
  } catch {
    return undefined;
  }
}
