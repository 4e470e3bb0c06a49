// The results of a query, from this device and from the server, as far as they are displayed.

import {
  type Client,
  type ConversationKey,
  type Found,
  isRoom,
  type KnownPerson,
  type RoomView,
} from '@kith/client';
import { useCallback, useRef, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { marked } from './highlight.ts';

export interface FoundRoom {
  key: ConversationKey;
  face: KnownPerson;
  room: RoomView | undefined;
}

export interface Results {
  query: string;
  people: readonly KnownPerson[];
  rooms: readonly FoundRoom[];
  hits: Found['hits'];
  next?: string | undefined;
  /** Some of it could not be asked. */
  failed: boolean;
}

/** Of people, and of rooms. */
const MOST = 5;
const MOST_HITS = 200;
/** Typing goes faster than asking. */
const DELAY = 200;

/** `within`: messages of this conversation only. The results of the query before stay until there are new ones. */
export function useSearchResults(query: string, within?: ConversationKey) {
  const client = useClient();
  const load = useCallback(() => search(client, query, within), [client, query, within]);
  const request = useRequest(query === '' ? undefined : load, { delay: DELAY, keep: true, refresh: true });
  const { data: results, loading, retry, update } = request;
  const isBusy = useRef(false);
  /** The page after these results could not be loaded. */
  const [failedAfter, setFailedAfter] = useState<string>();
  const next = results?.next;
  const more = async () => {
    if (next === undefined || isBusy.current || loading) return;
    isBusy.current = true;
    setFailedAfter(undefined);
    try {
      const page = await client.search(query, { after: next, ...(within !== undefined && { in: within }) });
      update(before => {
        if (before.next !== next) return before;
        const hits = [...before.hits, ...page.hits];
        return { ...before, hits, next: hits.length < MOST_HITS ? page.next : undefined };
      });
    } catch {
      setFailedAfter(next);
    }
    isBusy.current = false;
  };
  const shown = query === '' ? undefined : results;
  const moreFailed = next !== undefined && next === failedAfter;
  return { results: shown, loading, retry, more, moreFailed };
}

async function search(client: Client, query: string, within: ConversationKey | undefined): Promise<Results> {
  const [messages, people, rooms] = await Promise.allSettled([
    client.search(query, within === undefined ? {} : { in: within }),
    within === undefined ? client.people(query) : undefined,
    within === undefined ? client.rooms(query) : undefined,
  ]);
  const hits = messages.status === 'fulfilled' ? messages.value : { hits: [] };
  // A site where only contacts see each other refuses the directory; what is known here still counts.
  const listed = people.status === 'fulfilled' ? (people.value?.people ?? []) : [];
  const found = rooms.status === 'fulfilled' ? (rooms.value?.rooms ?? []) : [];
  return {
    query,
    people: within === undefined ? peopleFound(client, query, listed) : [],
    rooms: within === undefined ? roomsFound(client, query, found) : [],
    hits: hits.hits,
    next: hits.next,
    failed: messages.status === 'rejected' || rooms.status === 'rejected',
  };
}

function peopleFound(client: Client, wanted: string, listed: readonly KnownPersonLike[]): KnownPerson[] {
  const known = [
    ...client
      .conversations()
      .keys.filter(key => !isRoom(key))
      .map(key => client.conversation(key).with),
    ...client.contacts().contacts,
  ].filter(one => named(one.name, wanted));
  const me = client.me()?.user;
  const byUser = new Map<string, KnownPerson>();
  for (const one of [...known, ...listed])
    if (one.user !== me && byUser.size < MOST) byUser.set(one.user, { guest: false, ...one });
  return [...byUser.values()];
}

function roomsFound(client: Client, wanted: string, listed: readonly FoundRoom[]): FoundRoom[] {
  const own = client
    .conversations()
    .keys.filter(isRoom)
    .map(key => {
      const { with: face, room } = client.conversation(key);
      return { key, face, room };
    });
  const byKey = new Map<ConversationKey, FoundRoom>();
  for (const one of [...own.filter(room => named(room.face.name, wanted)), ...listed])
    if (byKey.size < MOST) byKey.set(one.key, one);
  return [...byKey.values()];
}

type KnownPersonLike = Omit<KnownPerson, 'guest'> & { guest?: boolean };

/** Does a word of the name begin so? */
function named(name: string, query: string): boolean {
  const wanted = query.trim().toLowerCase();
  return (
    marked(name, query).some(one => one.hit) ||
    name
      .toLowerCase()
      .split(/\s+/)
      .some(word => word.startsWith(wanted))
  );
}
