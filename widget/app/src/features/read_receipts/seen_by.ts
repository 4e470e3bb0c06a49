// The members of a small room who received or read a message.

import type { Client, ConversationKey, Member } from '@kith/client';

/** In larger rooms the server sends no read positions. */
const MOST_MEMBERS = 50;

export interface SeenBy {
  seen: readonly Member[];
  /** The members who received the message but have not read it. */
  delivered: readonly Member[];
}

export function hasSeenBy(client: Pick<Client, 'conversation'>, key: ConversationKey): boolean {
  const { room } = client.conversation(key);
  return room?.role !== undefined && room.members <= MOST_MEMBERS;
}

/** Excludes the member `me`, and members without a read position (they may hide it). */
export function seenBy(members: readonly Member[], seq: number, me: string | undefined): SeenBy {
  const others = members.filter(one => one.user !== me);
  return {
    seen: others.filter(one => (one.read ?? 0) >= seq),
    delivered: others.filter(one => (one.received ?? 0) >= seq && (one.read ?? 0) < seq),
  };
}

/** Loads several pages if the site's pages are shorter than a small room. */
export async function allMembers(
  client: Pick<Client, 'members'>,
  key: ConversationKey,
): Promise<readonly Member[]> {
  const all: Member[] = [];
  let after: string | undefined;
  do {
    const { members, next } = await client.members(key, undefined, after);
    all.push(...members);
    after = next;
  } while (after !== undefined && all.length < MOST_MEMBERS);
  return all;
}
