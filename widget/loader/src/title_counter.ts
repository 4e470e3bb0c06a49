// Shows the number of unread messages in front of the page's title, also when the page changes its title.

export interface TitleCounter {
  set(unread: number): void;
  /** Restores the page's own title. */
  stop(): void;
}

/**
 * A page may have a script that restores its own title after each change. Its observer and ours would call each other
 * for ever and block the page, so ours stops after this number of changes in a second.
 */
const MOST_CHANGES = 10;

export function createTitleCounter(page: Document): TitleCounter {
  let own = page.title;
  let written = own;
  const write = (prefix: string) => {
    written = prefix + own;
    if (page.title !== written) page.title = written;
  };
  let prefix = '';
  let changes: number[] = [];
  const observer = new MutationObserver(() => {
    if (page.title === written) return;
    const now = Date.now();
    changes = [...changes.filter(at => at > now - 1_000), now];
    if (changes.length > MOST_CHANGES) return observer.disconnect();
    // The page has set its title. If it copied the old title, remove our prefix from it.
    const title = page.title;
    own = prefix !== '' && title.startsWith(prefix) ? title.slice(prefix.length) : title;
    write(prefix);
  });
  const watch = () => observer.observe(page.head, { childList: true, subtree: true, characterData: true });
  return {
    set(unread) {
      const before = prefix;
      prefix = unread === 0 ? '' : `(${unread > 99 ? '99+' : unread}) `;
      if (prefix === before) return;
      if (before === '') {
        own = page.title;
        watch();
      }
      if (prefix === '') observer.disconnect();
      write(prefix);
    },
    stop() {
      observer.disconnect();
      if (prefix !== '') write('');
      prefix = '';
    },
  };
}
