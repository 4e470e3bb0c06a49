// One conversation in the list.

import { type Client, type Conversation, type ConversationKey, isRoom, type RoomView } from '@kith/client';
import { useRef } from 'preact/hooks';
import { useAppContext, useFace, useNow, useTopic } from '../../app_context.tsx';
import { badgeText } from '../../shell/tab_bar.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { fetchLazy, Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { typingText } from '../chat/typing_text.ts';
import { StateIcon } from '../message/state_icon.tsx';
import { gistOf } from '../message_text/plain_text.ts';

interface Props {
  conversation: ConversationKey;
  chosen: boolean;
  tabIndex: 0 | -1;
}

const callGist = lazy(() => import('../call_log/call_entry.tsx'), 'Gist');
export const rowMenu = () => import('./row_menu.ts');

export function ChatRow({ conversation: key, chosen, tabIndex }: Props) {
  const context = useAppContext();
  const { wording: words, openChat, openMenu } = context;
  const more = useRef<HTMLButtonElement>(null);
  const now = useNow();
  const conversation = useTopic(`conversation:${key}`, client => client.conversation(key));
  const person = useFace(conversation);
  const presence = useTopic(`presence:${person.user}`, client => client.presence(person.user));
  const typing = useTopic(`typing:${key}`, client => client.typing(key));
  const draft = useTopic(`draft:${key}`, client => client.draft(key));
  const muted = conversation.mutedUntil > now;
  const unread = conversation.unread > 0 || conversation.markedUnread;

  const showMenu = () => {
    const anchor = more.current;
    if (anchor === null) return;
    const menu = fetchLazy(rowMenu, words);
    openMenu(
      menu.then(one => ({
        anchor,
        label: words.actionsFor(person.name),
        items: one.rowActions(context, conversation, now),
      })),
    );
  };
  return (
    <div data-chat={key} class={`row chat-row ${unread ? 'is-unread' : ''} ${chosen ? 'is-chosen' : ''}`}>
      <button
        type="button"
        class="row-main"
        data-stop
        tabIndex={tabIndex}
        aria-current={chosen ? 'true' : undefined}
        onClick={() => openChat(key)}
        onContextMenu={event => {
          event.preventDefault();
          showMenu();
        }}
      >
        <Avatar person={person} {...(isRoom(key) ? { room: true } : { presence: presence.presence })} />
        <span class="row-text">
          <span class="row-line">
            {conversation.room && <RoomMark room={conversation.room} />}
            <span class="row-name clip" dir="auto">
              {person.name}
            </span>
            {muted && <Mark icon="muted" text={words.muted} />}
            {conversation.pinned && <Mark icon="pin" text={words.pinned} />}
            <span class="grow" />
            {conversation.last && (
              <time class="row-time" dir="auto" dateTime={new Date(conversation.last.time).toISOString()}>
                {words.short(conversation.last.time, now)}
              </time>
            )}
          </span>
          <span class="row-line">
            <Preview conversation={conversation} typing={typing} draft={chosen ? '' : draft} />
            <span class="grow" />
            <Badge conversation={conversation} muted={muted} />
          </span>
        </span>
      </button>
      <button
        ref={more}
        type="button"
        class="icon-button row-more"
        tabIndex={tabIndex}
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={words.actionsFor(person.name)}
        onClick={showMenu}
      >
        <Icon name="more" />
      </button>
    </div>
  );
}

function Preview({
  conversation,
  typing,
  draft,
}: {
  conversation: Conversation;
  typing: readonly string[];
  draft: string;
}) {
  const { wording: words, client } = useAppContext();
  const { last } = conversation;
  const sender = useTopic(`person:${last?.from ?? ''}`, one => (last ? one.person(last.from) : undefined));
  const room = isRoom(conversation.key);
  if (typing.length > 0) {
    const text = room ? typingText(words, typing, client) : words.typing;
    return <span class="row-preview row-typing clip">{text}</span>;
  }
  if (draft.trim() !== '') {
    return (
      <LabeledText class="row-preview" label={<span class="row-draft">{`${words.draft} `}</span>}>
        {oneLine(draft)}
      </LabeledText>
    );
  }
  if (last === undefined) return <LabeledText class="row-preview">{conversation.room?.topic}</LabeledText>;
  const text = last.deleted
    ? words.deletedMessage
    : oneLine(
        room && client.contact(last.from) === 'blocked'
          ? '…'
          : gistOf(last, words, user => nameKnown(client, user)),
      );
  const call = last.call && !last.deleted;
  const by = last.mine ? words.you : room && sender?.name;
  const label = by && !call && words.said(by);
  return (
    <>
      {last.mine && !last.deleted && !last.call && <StateIcon state={last.state} />}
      <LabeledText class="row-preview" label={label}>
        {call ? (
          <Lazy
            part={callGist}
            props={{ message: last }}
            meanwhile={<span>{text}</span>}
            onFailed={() => undefined}
          />
        ) : (
          text
        )}
      </LabeledText>
    </>
  );
}

function Badge({ conversation, muted }: { conversation: Conversation; muted: boolean }) {
  const { wording: words } = useAppContext();
  if (conversation.unread === 0) {
    if (!conversation.markedUnread) return null;
    return (
      <span class="badge badge-dot">
        <span class="hidden-text">{words.filterUnread}</span>
      </span>
    );
  }
  const mentioned = conversation.mentions > 0;
  return (
    <>
      {mentioned && (
        <span class="badge badge-mention">
          <span aria-hidden="true">@</span>
          <span class="hidden-text">{words.mentions(conversation.mentions)}</span>
        </span>
      )}
      <span class={muted ? 'badge badge-quiet' : 'badge'}>
        <bdi aria-hidden="true">{badgeText(conversation.unread)}</bdi>
        <span class="hidden-text">{words.unread(conversation.unread)}</span>
      </span>
    </>
  );
}

/** An icon for the kind of the room, unless it is a public one. */
export function RoomMark({ room }: { room: RoomView }) {
  const { wording: words } = useAppContext();
  if (room.kind === 'public') return null;
  return <Mark icon={room.kind === 'private' ? 'lock' : 'megaphone'} text={words.roomKinds[room.kind]} />;
}

function Mark({ icon, text }: { icon: 'muted' | 'pin' | 'lock' | 'megaphone'; text: string }) {
  return (
    <span class="row-mark" title={text}>
      <Icon name={icon} />
      <span class="hidden-text">{text}</span>
    </span>
  );
}

function nameKnown(client: Client, user: string): string | undefined {
  const { name } = client.person(user);
  return name === user ? undefined : name;
}

function oneLine(text: string): string {
  return text.slice(0, 200).replace(/\s+/gu, ' ');
}
