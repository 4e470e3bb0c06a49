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

/** What a message has besides its text, as it is drawn. */
export function seenOf(message: WireMessage): Pick<Message, 'replyTo' | 'edited' | 'deleted' | 'reactions'> {
  const { reply_to, edited, deleted, reactions } = message;
  return {
    ...(reply_to !== undefined && { replyTo: reply_to }),
    ...(edited !== undefined && { edited }),
    ...(deleted && { deleted }),
    ...(reactions?.length && { reactions: reactions.map(one => ({ mine: false, ...one })) }),
  };
}
