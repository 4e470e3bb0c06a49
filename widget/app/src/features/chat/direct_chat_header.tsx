// The header of a direct chat: name, presence, calls and the menu.

import type { Conversation } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { fetchLazy, Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { openProfile } from '../profile/open_profile.ts';
import { ChatHeader } from './chat_header.tsx';

interface Props {
  conversation: Conversation;
  /** Undefined if the chat list is visible beside the chat. */
  onBack: (() => void) | undefined;
  onSearch(): void;
  corner: ComponentChildren;
}

const chatMenu = () => import('./chat_menu.ts');
const dateJump = lazy(() => import('./date_jump.tsx'), 'DateJump');
const callButtons = lazy(() => import('../call_log/call_buttons.tsx'), 'Buttons');

export function DirectChatHeader({ conversation, onBack, onSearch, corner }: Props) {
  const context = useAppContext();
  const { wording: words, client } = context;
  const now = useNow();
  const [picksDate, setPicksDate] = useState(false);
  const user = conversation.with.user;
  const person = useTopic(`person:${user}`, one => one.person(user));
  const view = useTopic(`presence:${user}`, one => one.presence(user));
  const typing = useTopic(`typing:${conversation.key}`, one => one.typing(conversation.key)).length > 0;
  useEffect(() => client.watch([user], 'last_seen'), [client, user]);

  const where =
    view.presence === 'offline' && view.lastSeen !== undefined
      ? words.lastSeen(words.ago(view.lastSeen, now))
      : words[view.presence];
  const items = async () => {
    const menu = await fetchLazy(chatMenu, words);
    return menu.chatActions(context, conversation, now, { onSearch, onDate: () => setPicksDate(true) });
  };
  return (
    <>
      <ChatHeader name={person.name} onBack={onBack} items={items} corner={corner}>
        <button
          type="button"
          class="chat-face"
          aria-haspopup="dialog"
          onClick={() => openProfile(context, user)}
        >
          <Avatar person={person} size="small" presence={view.presence} />
          <span class="hidden-text">{person.name}</span>
        </button>
        <div class="chat-who grow">
          <h2 class="chat-name clip">
            <bdi>{person.name}</bdi>
          </h2>
          <p class={typing ? 'chat-presence is-typing clip' : 'chat-presence clip'}>
            {typing ? words.typing : where}
          </p>
        </div>
        <Lazy part={callButtons} props={{ user }} canWait onFailed={() => undefined} />
      </ChatHeader>
      {picksDate && (
        <Lazy
          part={dateJump}
          props={{ conversation, onClose: () => setPicksDate(false) }}
          onFailed={() => setPicksDate(false)}
        />
      )}
    </>
  );
}
