// Loads pages of the site's directory on demand, and searches people by name.

import { type Person, RequestError } from '@kith/client';
import { useCallback } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { type Pages, usePages } from '../../ui/request/use_pages.ts';
import { type Request, useRequest } from '../../ui/request/use_request.ts';

/** Delay in milliseconds before a search: fast typing must not send a request per character. */
const SEARCH_DELAY = 200;

/** `open`: all members of the site see each other. */
export function useDirectory(open: boolean): Pages<Person> {
  const client = useClient();
  const load = useCallback(
    async (after?: string) => {
      const { people, next } = await client.people(undefined, after);
      return { items: people, next };
    },
    [client],
  );
  return usePages(open ? load : undefined);
}

/** Without a query no request is sent. */
export function useSearch(query: string): Request<readonly Person[]> {
  const client = useClient();
  const load = useCallback(async () => {
    try {
      return (await client.people(query)).people;
    } catch (error) {
      // A site where only contacts see each other refuses the search. Matches on this device still count.
      if (error instanceof RequestError && error.code === 'not_allowed') return [];
      throw error;
    }
  }, [client, query]);
  return useRequest(query === '' ? undefined : load, { delay: SEARCH_DELAY, keep: true });
}
