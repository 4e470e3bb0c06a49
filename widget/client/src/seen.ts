// The wire's messages and rooms in the shape in which they are drawn.

import type { Message, RoomView } from './client.ts';
import type { Room, Message as WireMessage } from './wire.ts';

export function roomView({ name, kind, role, members, topic, page, slow_ms, frozen }: Room): RoomView {
  return {
    name,
    kind,
    ...(role && { role }),
    members,
    ...(topic !== undefined && { topic }),
    ...(page !== undefined && { page }),
    slowMs: slow_ms ?? 0,
    frozen: frozen ?? false,
  };
}

/** A message by itself, of which one knows no more than what it says. */
export function drawn(message: WireMessage, me: string | undefined): Message {
  const { id, seq, from, body, time } = message;
  const mine = from === me;
  return { id, seq, from, mine, body, time, ...seenOf(message), state: mine ? 'sent' : 'received' };
}

/** What a message has besides its text, as it is drawn. */
export function seenOf(
  message: Partial<WireMessage>,
): Pick<
  Message,
  | 'replyTo'
  | 'edited'
  | 'deleted'
  | 'pinned'
  | 'call'
  | 'reactions'
  | 'files'
  | 'poll'
  | 'forwarded'
  | 'thread'
  | 'replies'
  | 'preview'
> {
  const {
    reply_to,
    edited,
    deleted,
    pinned,
    call,
    reactions,
    files,
    poll,
    forwarded,
    thread,
    replies,
    preview,
  } = message;
  return {
    ...(reply_to !== undefined && { replyTo: reply_to }),
    ...(edited !== undefined && { edited }),
    ...(deleted && { deleted }),
    ...(pinned && { pinned }),
    ...(call && { call }),
    ...(reactions?.length && { reactions: reactions.map(one => ({ mine: false, ...one })) }),
    ...(files?.length && { files }),
    ...(poll && { poll }),
    ...(forwarded && { forwarded }),
    ...(thread && { thread }),
    ...(replies && { replies }),
    ...(preview && { preview }),
  };
}
