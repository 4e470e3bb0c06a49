// The number of unread messages in front of the page's title, whatever the page does with its title.

export interface TitleCounter {
  set(unread: number): void;
  /** Gives the page its own title back. */
  stop(): void;
}

export function createTitleCounter(page: Document): TitleCounter {
  let own = page.title;
  let written = own;
  const write = (prefix: string) => {
    written = prefix + own;
    if (page.title !== written) page.title = written;
  };
  let prefix = '';
  const observer = new MutationObserver(() => {
    if (page.title === written) return;
    // The page has set its title, perhaps to what it has read from there: our number is not part of it.
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
