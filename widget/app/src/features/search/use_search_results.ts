// The results of a query, from this device and from the server, as far as they are displayed.

import { type ConversationKey, type Found, isRoom, type KnownPerson, type RoomView } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
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

/** `within`: messages of this conversation only. */
export function useSearchResults(query: string, within?: ConversationKey) {
  const client = useClient();
  const [results, setResults] = useState<Results>();
  const busy = useRef(false);
  useEffect(() => {
    if (query === '') return setResults(undefined);
    let wanted = true;
    const timer = setTimeout(async () => {
      const [messages, people, rooms] = await Promise.allSettled([
        client.search(query, within === undefined ? {} : { in: within }),
        within === undefined ? client.people(query) : undefined,
        within === undefined ? client.rooms(query) : undefined,
      ]);
      if (!wanted) return;
      const found = messages.status === 'fulfilled' ? messages.value : { hits: [] };
      setResults({
        query,
        ...(within === undefined
          ? {
              // A site where only contacts see each other refuses the directory; what is known here still counts.
              people: peopleFound(query, people.status === 'fulfilled' ? (people.value?.people ?? []) : []),
              rooms: roomsFound(query, rooms.status === 'fulfilled' ? (rooms.value?.rooms ?? []) : []),
            }
          : { people: [], rooms: [] }),
        hits: found.hits,
        next: found.next,
        failed: messages.status === 'rejected',
      });
    }, DELAY);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [client, query, within]);

  const peopleFound = (wanted: string, listed: readonly KnownPersonLike[]): KnownPerson[] => {
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
  };
  const roomsFound = (wanted: string, listed: readonly FoundRoom[]): FoundRoom[] => {
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
  };
  const more = () => {
    const next = results?.next;
    if (next === undefined || busy.current || results?.query !== query) return;
    busy.current = true;
    client.search(query, { after: next, ...(within !== undefined && { in: within }) }).then(
      page => {
        busy.current = false;
        setResults(before => {
          if (before?.query !== query) return before;
          const hits = [...before.hits, ...page.hits];
          return { ...before, hits, next: hits.length < MOST_HITS ? page.next : undefined };
        });
      },
      () => {
        busy.current = false;
      },
    );
  };
  const shown = results !== undefined && query !== '' ? results : undefined;
  return { results: shown, loading: query !== '' && results?.query !== query, more };
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
