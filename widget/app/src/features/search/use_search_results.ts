// The results of a query from this device and from the server, up to a maximum number.

import {
  type Client,
  type ConversationKey,
  type Found,
  isRoom,
  type KnownPerson,
  type Person,
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
  /** The request for messages or rooms failed. */
  failed: boolean;
}

/** Maximum number of people, and of rooms. */
const MOST = 5;
const MOST_HITS = 200;
/** Milliseconds. Members type faster than the server answers. */
const DELAY = 200;

/** `within` limits the search to messages of a conversation. The previous results stay until the next ones arrive. */
export function useSearchResults(query: string, within?: ConversationKey) {
  const client = useClient();
  const load = useCallback(() => search(client, query, within), [client, query, within]);
  const request = useRequest(query === '' ? undefined : load, { delay: DELAY, keep: true, refresh: true });
  const { data: results, loading, retry, update } = request;
  const isBusy = useRef(false);
  /** The cursor of the next page if that page could not be loaded. */
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
  // A site where only contacts see each other refuses the directory. People known on this device are still found.
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

function peopleFound(client: Client, wanted: string, listed: readonly Person[]): KnownPerson[] {
  const known = [
    ...client
      .conversations()
      .keys.filter(key => !isRoom(key))
      .map(key => client.conversation(key).with),
    ...client.contacts().contacts,
  ].filter(one => named(one.name, wanted) || named(one.displayName ?? '', wanted));
  const me = client.me()?.user;
  const byUser = new Map<string, KnownPerson>();
  for (const { user } of [...known, ...listed])
    if (user !== me && byUser.size < MOST) byUser.set(user, client.person(user));
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

/** Whether a word of the name starts with the query. */
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
