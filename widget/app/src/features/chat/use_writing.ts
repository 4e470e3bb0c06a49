// The state of the composer: the message that the user replies to, or the own message that the user edits.

import type { ConversationKey, Message } from '@kith/client';
import { useCallback, useRef, useState } from 'preact/hooks';
import { mayEdit } from '../message/may_edit.ts';
import type { ConversationSource } from './conversation_source.ts';
import { hasRow } from './message_list_items.ts';

export interface Writing {
  field: { current: HTMLTextAreaElement | null };
  replyTo: Message | undefined;
  editing: Message | undefined;
  /** Increases with each message that the user sends. */
  sends: number;
  reply(message: Message): void;
  edit(message: Message): void;
  editLast(): void;
  cancel(): void;
  sent(): void;
}

/** The owner of the view holds this state, because another view may cover the conversation for a while. */
export function useWriting(source: ConversationSource, key: ConversationKey): Writing {
  const field = useRef<HTMLTextAreaElement>(null);
  const [replyTo, setReplyTo] = useState<Message>();
  const [editing, setEditing] = useState<Message>();
  const [sends, setSends] = useState(0);
  const reply = useCallback((message: Message) => {
    setEditing(undefined);
    setReplyTo(message);
    field.current?.focus();
  }, []);
  const edit = useCallback((message: Message) => {
    setReplyTo(undefined);
    setEditing(message);
  }, []);
  const cancel = () => {
    setReplyTo(undefined);
    setEditing(undefined);
  };
  const editLast = () => {
    // If the last own message is still queued, no older message is edited instead.
    const last = source
      .timeline(key)
      .messages.findLast(
        one => hasRow(one, source.thread) && (mayEdit(one) || (one.mine && one.seq === undefined)),
      );
    if (last && mayEdit(last)) edit(last);
  };
  const sent = () => {
    cancel();
    if (!editing) setSends(before => before + 1);
  };
  return { field, replyTo, editing, sends, reply, edit, editLast, cancel, sent };
}
