// The head of a minimized chat: its picture and the number of unread messages.

import { type ConversationKey, isRoom } from '@kith/client';
import { useEffect } from 'preact/hooks';
import { useFace, useTopic, useWording } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import type { Wording } from '../../wording/wording.ts';
import { badgeText } from '../tab_bar.tsx';

interface Props {
  conversation: ConversationKey;
  onOpen(): void;
  onClose(): void;
  onMoved(to: ConversationKey): void;
}

export function Head({ conversation: key, onOpen, onClose, onMoved }: Props) {
  const words = useWording();
  const conversation = useTopic(`conversation:${key}`, one => one.conversation(key));
  const person = useFace(conversation);
  const user = conversation.with.user;
  const view = useTopic(`presence:${user}`, one => (isRoom(key) ? undefined : one.presence(user)));
  const { unread } = conversation;
  useEffect(() => {
    if (conversation.key !== key) onMoved(conversation.key);
  }, [conversation.key, key, onMoved]);
  return (
    <button
      type="button"
      class="bar-head"
      title={person.name}
      onClick={onOpen}
      onKeyDown={event => {
        if (event.key === 'Delete' || event.key === 'Backspace') onClose();
      }}
    >
      <span class="hidden-text">{headName(words, person.name, unread)}</span>
      <Avatar person={person} size="small" presence={view?.presence} room={isRoom(key)} />
      {unread > 0 && (
        <span class={conversation.mentions > 0 ? 'badge badge-mention' : 'badge'} aria-hidden="true">
          {badgeText(unread)}
        </span>
      )}
    </button>
  );
}

function headName(words: Wording, name: string, unread: number): string {
  return unread > 0 ? words.list([name, words.unread(unread)]) : name;
}
