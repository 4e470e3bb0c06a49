// Requests for single messages: search results and pinned messages.

import type { ConversationKey, Found, Message } from './client.ts';
import { drawn } from './message_view.ts';
import type { Replica } from './replica.ts';
import type { Ask } from './request.ts';

interface Host {
  replica: Replica;
  ask: Ask;
}

const PAGE = 20;

/** Pinned messages, newest first. */
export async function pins(host: Host, key: ConversationKey): Promise<readonly Message[]> {
  const conversation = idOf(host, key);
  if (conversation === undefined) return [];
  const event = await host.ask({ t: 'pins', conversation });
  return event.messages.map(one => drawn(one, host.replica.me?.user));
}

/** Undefined if the conversation has no messages yet. */
function idOf({ replica }: Host, key: ConversationKey): string | undefined {
  return replica.known(key).id ?? (key[0] === '#' ? key.slice(1) : undefined);
}

export async function search(
  host: Host,
  query: string,
  { in: key, after }: { in?: ConversationKey; after?: string },
): Promise<Found> {
  const { keysById } = host.replica.conversations;
  // A conversation without an id has no messages.
  const conversation = key && idOf(host, key);
  if (key !== undefined && conversation === undefined) return { hits: [] };
  const event = await host.ask({
    t: 'search',
    query,
    limit: PAGE,
    ...(conversation !== undefined && { conversation }),
    ...(after !== undefined && { after }),
  });
  // For a conversation that no loaded page of the list has, ask for its record: it has the other user or the room.
  const strange = new Set(event.hits.map(one => one.conversation).filter(id => !keysById.has(id)));
  if (key === undefined) {
    await Promise.allSettled(Array.from(strange, id => host.ask({ t: 'conversation', conversation: id })));
  }
  const me = host.replica.me?.user;
  const hits = event.hits.flatMap(one => {
    const where = key ?? keysById.get(one.conversation);
    return where === undefined ? [] : [{ key: where, message: drawn(one, me) }];
  });
  return { hits, ...(event.next !== undefined && { next: event.next }) };
}
