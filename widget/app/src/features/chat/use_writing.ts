// What is being written in a conversation view: an answer to a message, or another text for one's own.

import type { ConversationKey, Message } from '@kith/client';
import { useCallback, useRef, useState } from 'preact/hooks';
import { mayEdit } from '../message/may_edit.ts';
import type { ConversationSource } from './conversation_source.ts';
import { hasRow } from './message_list_items.ts';

export interface Writing {
  field: { current: HTMLTextAreaElement | null };
  replyTo: Message | undefined;
  editing: Message | undefined;
  /** Grows with each message that the member sends. */
  sends: number;
  reply(message: Message): void;
  edit(message: Message): void;
  editLast(): void;
  cancel(): void;
  sent(): void;
}

/** It belongs to the owner of the view, because the view may be covered by another one meanwhile. */
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
    // A queued message is the last one too: an older one is not edited in its place.
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
