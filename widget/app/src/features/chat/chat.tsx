// A conversation: who, what was said, and the place to answer.

import { type ConversationKey, isRoom, type Message } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { Composer } from '../composer/composer.tsx';
import { mayEdit } from '../message/may_edit.ts';
import type { MessageActions } from '../message/message_menu.ts';
import { keepsOrder, silenced } from '../rooms/may_write.ts';
import { MessageList } from './message_list.tsx';
import { isReply } from './message_list_items.ts';

interface Props {
  conversation: ConversationKey;
  at: { seq: number } | undefined;
  /** Left out where the list stands beside the chat. */
  onBack: (() => void) | undefined;
  /** A guest has become a member, or the account is gone: it goes on under this key. */
  onMoved(to: ConversationKey): void;
  corner: ComponentChildren;
  banner: ComponentChildren;
}

export function Chat({ conversation: key, at, onBack, onMoved, corner, banner }: Props) {
  const { client, announce, wording: words } = useAppContext();
  const conversation = useTopic(`conversation:${key}`, one => one.conversation(key));
  const state = useTopic(`person:${conversation.with.user}`, one => one.contact(conversation.with.user));
  const [replyTo, setReplyTo] = useState<Message>();
  const [editing, setEditing] = useState<Message>();
  const [beside, setBeside] = useState<'about' | 'search' | 'threads' | number>();
  /** Where a pin has led, until the chat is opened at another message. */
  const [jumped, setJumped] = useState<{ seq: number; since: Props['at'] }>();
  const wanted = jumped && jumped.since === at ? jumped : at;
  const jump = useCallback((seq: number) => setJumped({ seq, since: at }), [at]);
  /** The way back leads to the message that the thread hangs below. */
  const openThread = useCallback(
    (root: number) => {
      jump(root);
      setBeside(root);
    },
    [jump],
  );
  const actions = useRef<MessageActions | undefined>(undefined);
  const composer = useRef<HTMLTextAreaElement>(null);
  const [sends, setSends] = useState(0);
  // Before the history is drawn: the first message that is seen moves the line of the unread.
  const [opened, setOpened] = useState(false);
  useLayoutEffect(() => {
    setOpened(true);
    return client.open(key);
  }, [client, key]);
  useEffect(() => {
    if (conversation.key !== key) onMoved(conversation.key);
  }, [conversation.key, key]);
  const reply = useCallback((message: Message) => {
    setEditing(undefined);
    setReplyTo(message);
    composer.current?.focus();
  }, []);
  const edit = useCallback((message: Message) => {
    setReplyTo(undefined);
    setEditing(message);
  }, []);
  const cancel = useCallback(() => {
    setReplyTo(undefined);
    setEditing(undefined);
  }, []);
  const editLast = () => {
    // One that is on its way is not passed over: whoever asks means that one.
    const last = client
      .timeline(key)
      .messages.findLast(one => !isReply(one) && (mayEdit(one) || (one.mine && one.seq === undefined)));
    if (last && mayEdit(last)) edit(last);
  };

  // As the server decides it; before the first welcome it decides alone.
  const me = useTopic('me', one => one.me());
  const open = me?.open !== false;
  const inRoom = isRoom(key);
  const { room } = conversation;
  // The room of a page is made by who writes first; of any other one knows what it is before one writes.
  const mayWriteHere = inRoom
    ? room
      ? silenced(room) === undefined
      : key.startsWith('~')
    : state === 'contact' || (open && state !== 'blocked');
  const mayWrite = mayWriteHere && (me?.role !== undefined || (me?.site?.access ?? 'open') === 'open');
  const composing = mayWrite && (
    <Composer
      key={editing ? `edit ${editing.id}` : 'write'}
      conversation={conversation}
      field={composer}
      replyTo={replyTo}
      editing={editing}
      onCancel={cancel}
      onEditLast={editLast}
      onSent={() => {
        cancel();
        if (!editing) setSends(before => before + 1);
      }}
    />
  );
  const failed = () => announce(words.loadFailed);
  const back = () => setBeside(undefined);
  const search = () => setBeside('search');
  if (beside === 'about')
    return <Lazy part={aboutPart} props={{ conversation, onBack: back, corner }} onFailed={back} />;
  if (beside === 'search')
    return <Lazy part={chatSearch} props={{ conversation, onBack: back, corner }} onFailed={back} />;
  if (beside === 'threads')
    return (
      <Lazy
        part={threadsPart}
        props={{ conversation, onOpen: setBeside, onBack: back, corner }}
        onFailed={back}
      />
    );
  if (beside && actions.current)
    return (
      <Lazy
        part={threadPart}
        props={{ conversation, root: beside, actions: actions.current, onBack: back, corner }}
        onFailed={back}
      />
    );
  return (
    <>
      {inRoom ? (
        <Lazy
          part={headPart}
          props={{
            conversation,
            onBack,
            corner,
            onAbout: () => setBeside('about'),
            onSearch: search,
            onThreads: () => setBeside('threads'),
          }}
          meanwhile={headMeanwhile}
          onFailed={failed}
        />
      ) : (
        <Lazy
          part={personHeadPart}
          props={{ conversation, onBack, corner, onSearch: search }}
          meanwhile={headMeanwhile}
          onFailed={failed}
        />
      )}
      {banner}
      {/* One of both: somebody who is blocked asks for nothing any more. */}
      {conversation.request && state !== 'blocked' ? (
        <Lazy part={requestPart} props={{ conversation, onGone: onBack }} onFailed={failed} />
      ) : (
        !inRoom &&
        state !== 'contact' &&
        (!open || state === 'blocked' || state === 'request_received') && (
          <Lazy part={strangerPart} props={{ conversation, state }} onFailed={failed} />
        )
      )}
      {conversation.exists && (
        <Lazy part={pinBar} props={{ conversation: key, onJump: jump }} canWait onFailed={() => undefined} />
      )}
      {opened && conversation.requestedBy === undefined && (
        <MessageList
          conversation={conversation}
          at={wanted}
          veiled={!inRoom && state !== 'contact'}
          linksInert={conversation.request === 'received' || (!inRoom && !open && state !== 'contact')}
          sends={sends}
          onReply={reply}
          onEdit={edit}
          readOnly={!mayWrite}
          keepsOrder={keepsOrder(room)}
          onThread={openThread}
          does={actions}
        />
      )}
      {inRoom ? (
        <Lazy part={footPart} props={{ conversation, composer: composing }} onFailed={failed} />
      ) : (
        composing
      )}
    </>
  );
}

const requestPart = lazy(() => import('../message_requests/request_bar.tsx'), 'RequestBar');
const strangerPart = lazy(() => import('../message_requests/stranger_banner.tsx'), 'StrangerBanner');
export const headPart = lazy(() => import('../rooms/room.tsx'), 'RoomHeader');
export const personHeadPart = lazy(() => import('./direct_chat_header.tsx'), 'DirectChatHeader');
export const footPart = lazy(() => import('../rooms/room.tsx'), 'RoomFooter');
const pinBar = lazy(() => import('../pinned_messages/pinned_bar.tsx'), 'PinnedBar');
const aboutPart = lazy(() => import('../rooms/room_info.tsx'), 'RoomInfo');
/** Holds the place of a head that is being fetched. */
const headMeanwhile = <div class="bar" />;
const threads = () => import('../threads/thread.tsx');
const threadPart = lazy(threads, 'Thread');
const threadsPart = lazy(threads, 'Threads');
const chatSearch = lazy(() => import('../search/search_pane.tsx'), 'ChatSearch');
