// Pages of the site's directory, as far as they are looked at.

import type { Person } from '@kith/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useClient, useTopic } from '../../app_context.tsx';

interface Found {
  people: readonly Person[];
  loading: boolean;
}

const NOBODY: readonly Person[] = [];
/** Typing goes faster than asking. */
const SEARCH_DELAY = 200;

export function useDirectory(open: boolean): Found & { loadMore(): void } {
  const client = useClient();
  const [pages, setPages] = useState<Found & { next?: string | undefined }>({
    people: NOBODY,
    loading: open,
  });
  const busy = useRef(false);
  const next = useRef<string | undefined>(undefined);
  const done = useRef(false);
  const online = useTopic('status', one => one.status()).state === 'online';

  const loadMore = useCallback(() => {
    if (!open || busy.current || done.current) return;
    busy.current = true;
    client.people(undefined, next.current).then(
      page => {
        busy.current = false;
        next.current = page.next;
        done.current = page.next === undefined;
        setPages(before => ({ people: [...before.people, ...page.people], loading: false }));
      },
      () => {
        busy.current = false;
        setPages(before => ({ ...before, loading: false }));
      },
    );
  }, [client, open]);
  useEffect(() => {
    if (online) loadMore();
  }, [online, loadMore]);
  return { people: pages.people, loading: pages.loading, loadMore };
}

export function useSearch(query: string): Found {
  const client = useClient();
  const [found, setFound] = useState<Found & { query: string }>({
    query: '',
    people: NOBODY,
    loading: false,
  });
  useEffect(() => {
    if (query === '') return;
    let wanted = true;
    const timer = setTimeout(() => {
      client.people(query).then(
        page => wanted && setFound({ query, people: page.people, loading: false }),
        // A site where only contacts see each other refuses; what is found here still counts.
        () => wanted && setFound({ query, people: NOBODY, loading: false }),
      );
    }, SEARCH_DELAY);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [client, query]);
  if (query === '') return { people: NOBODY, loading: false };
  return { people: found.people, loading: found.query !== query };
}
