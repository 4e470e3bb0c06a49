// Converts messages and rooms of the wire into the values that the interface draws.

import type { Message, RoomView } from './client.ts';
import type { Room, Message as WireMessage } from './wire.ts';

export function roomView({ slow_ms, frozen = false, max_members, ...rest }: Room): RoomView {
  return { ...rest, slowMs: slow_ms ?? 0, frozen, maxMembers: max_members ?? 0 };
}

/** The view of a single message outside of a timeline, without markers of its conversation. */
export function drawn(message: WireMessage, me: string | undefined): Message {
  const { id, seq, from, body, time } = message;
  const mine = from === me;
  return { id, seq, from, mine, body, time, ...seenOf(message), state: mine ? 'sent' : 'received' };
}

/** Fields of a message, beside its text, that the view takes from the server without a change. */
const SAID = [
  'edited',
  'deleted',
  'opaque',
  'pinned',
  'call',
  'poll',
  'forwarded',
  'thread',
  'replies',
  'preview',
  'sticker',
] as const;

/** The parts of a message's view beside its text. */
export function seenOf(
  message: Partial<WireMessage>,
): Pick<Message, (typeof SAID)[number] | 'replyTo' | 'reactions' | 'files'> {
  const { reply_to, reactions, files } = message;
  return {
    ...(reply_to !== undefined && { replyTo: reply_to }),
    ...(reactions?.length && { reactions: reactions.map(one => ({ mine: false, ...one })) }),
    ...(files?.length && { files }),
    ...Object.fromEntries(SAID.flatMap(name => (message[name] ? [[name, message[name]]] : []))),
  };
}
