// A conversation: who, what was said, and the place to answer.

import type { Conversation, ConversationKey, Message } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Avatar } from '../avatar/avatar.tsx';
import { actions } from '../chats_tab/chat_row.tsx';
import { Composer } from '../composer/composer.tsx';
import { contactActions } from '../contacts_tab/contact_actions.ts';
import { Icon } from '../icon/icon.tsx';
import { useClient, useNow, useSurroundings, useTopic } from '../surroundings.tsx';
import { History } from './history.tsx';
import { StrangerBanner } from './stranger_banner.tsx';

interface Props {
  conversation: ConversationKey;
  /** Left out where the list stands beside the chat. */
  onBack: (() => void) | undefined;
  corner: ComponentChildren;
  banner: ComponentChildren;
}

export function Chat({ conversation: key, onBack, corner, banner }: Props) {
  const client = useClient();
  const conversation = useTopic(`conversation:${key}`, one => one.conversation(key));
  const state = useTopic(`person:${conversation.with.user}`, one => one.contact(conversation.with.user));
  const [replyTo, setReplyTo] = useState<Message>();
  const composer = useRef<HTMLTextAreaElement>(null);
  const [sends, setSends] = useState(0);
  useEffect(() => client.open(key), [client, key]);

  // As the server decides it; before the first welcome it decides alone.
  const open = useTopic('me', one => one.me())?.open !== false;
  const mayWrite = state === 'contact' || (open && state !== 'blocked');
  return (
    <>
      <ChatHeader conversation={conversation} onBack={onBack} corner={corner} />
      {banner}
      <StrangerBanner conversation={conversation} state={state} />
      <History
        conversation={conversation}
        linksInert={!open && state !== 'contact'}
        sends={sends}
        onReply={message => {
          setReplyTo(message);
          composer.current?.focus();
        }}
      />
      {mayWrite && (
        <Composer
          conversation={conversation}
          field={composer}
          replyTo={replyTo}
          onCancelReply={() => setReplyTo(undefined)}
          onSent={() => {
            setReplyTo(undefined);
            setSends(before => before + 1);
          }}
        />
      )}
    </>
  );
}

function ChatHeader({
  conversation,
  onBack,
  corner,
}: { conversation: Conversation } & Pick<Props, 'onBack' | 'corner'>) {
  const surroundings = useSurroundings();
  const { wording: words, openMenu, client } = surroundings;
  const now = useNow();
  const more = useRef<HTMLButtonElement>(null);
  const user = conversation.with.user;
  const person = useTopic(`person:${user}`, one => one.person(user));
  const view = useTopic(`presence:${user}`, one => one.presence(user));
  const typing = useTopic(`typing:${conversation.key}`, one => one.typing(conversation.key)).length > 0;
  useEffect(() => client.watch([user], 'last_seen'), [client, user]);

  const where =
    view.presence === 'offline' && view.lastSeen !== undefined
      ? words.lastSeen(words.ago(view.lastSeen, now))
      : words[view.presence];
  const showMenu = () => {
    if (more.current === null) return;
    const withPerson = contactActions(surroundings, person, client.contact(user)).filter(
      item => item.text !== words.message,
    );
    const withChat = conversation.exists ? actions(surroundings, conversation, now) : [];
    openMenu({
      anchor: more.current,
      label: words.actionsFor(person.name),
      items: [...withChat, ...withPerson],
    });
  };
  return (
    <div class="bar chat-bar">
      {onBack && (
        <button type="button" class="icon-button" aria-label={words.back} title={words.back} onClick={onBack}>
          <Icon name="back" mirrored />
        </button>
      )}
      <Avatar person={person} size="small" presence={view.presence} />
      <div class="chat-who grow">
        <h2 class="chat-name clip">
          <bdi>{person.name}</bdi>
        </h2>
        <p class={typing ? 'chat-presence is-typing clip' : 'chat-presence clip'}>
          {typing ? words.typing : where}
        </p>
      </div>
      <button
        ref={more}
        type="button"
        class="icon-button"
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={words.actionsFor(person.name)}
        title={words.more}
        onClick={showMenu}
      >
        <Icon name="more" />
      </button>
      {corner}
    </div>
  );
}
