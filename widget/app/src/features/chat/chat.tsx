// A conversation: its header, its messages and the composer.

import { type ConversationKey, isRoom } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { AppContext, useAppContext, useTopic } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { silenced } from '../rooms/may_write.ts';
import { ConversationView } from './conversation_view.tsx';
import { useWriting } from './use_writing.ts';

interface Props {
  conversation: ConversationKey;
  at: { seq: number } | undefined;
  /** Undefined if the chat list is visible beside the chat. */
  onBack: (() => void) | undefined;
  /** The conversation has a new key, because a guest became a member or the account was deleted. */
  onMoved(to: ConversationKey): void;
  corner: ComponentChildren;
  banner: ComponentChildren;
}

export function Chat({ conversation: key, at, onBack, onMoved, corner, banner }: Props) {
  const context = useAppContext();
  const { client, announce, wording: words } = context;
  /** In a room with nicknames. */
  const [named, setNamed] = useState<typeof context>();
  const conversation = useTopic(`conversation:${key}`, one => one.conversation(key));
  const state = useTopic(`person:${conversation.with.user}`, one => one.contact(conversation.with.user));
  const [beside, setBeside] = useState<'about' | 'search' | 'threads' | number>();
  /** The message that a pin or a thread led to, until the chat is opened at another message. */
  const [jumped, setJumped] = useState<{ seq: number; since: Props['at'] }>();
  const wanted = jumped && jumped.since === at ? jumped : at;
  const jump = useCallback((seq: number) => setJumped({ seq, since: at }), [at]);
  /** Back from a thread, the chat shows the root of the thread. */
  const openThread = useCallback(
    (root: number) => {
      jump(root);
      setBeside(root);
    },
    [jump],
  );
  const writing = useWriting(client, key);
  // Opens the conversation before the history renders, because the first seen message moves the unread line.
  const [opened, setOpened] = useState(false);
  useLayoutEffect(() => {
    setOpened(true);
    return client.open(key);
  }, [client, key]);
  useEffect(() => {
    if (conversation.key !== key) onMoved(conversation.key);
  }, [conversation.key, key, onMoved]);
  // The server applies the same rule. Before the first welcome, only the server decides.
  const me = useTopic('me', one => one.me());
  const open = me?.open !== false;
  const inRoom = isRoom(key);
  const { room } = conversation;
  // The first message creates the room of a page. Any other room must be known before a user can write.
  const mayWriteHere = inRoom
    ? room
      ? silenced(room) === undefined
      : key.startsWith('~')
    : state === 'contact' || (open && state !== 'blocked');
  const mayWrite = mayWriteHere && (me?.role !== undefined || (me?.site?.access ?? 'open') === 'open');
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
  if (beside)
    return (
      <Lazy
        part={threadPart}
        props={{ conversation, root: beside, mayWrite, onThread: openThread, onBack: back, corner }}
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
            onNames: setNamed,
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
      {/* Either the request or the banner: a request is hidden if its sender is blocked. */}
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
      <AppContext.Provider value={named ?? context}>
        <ConversationView
          conversation={conversation}
          source={client}
          writing={writing}
          at={wanted}
          hasList={opened && conversation.requestedBy === undefined}
          mayWrite={mayWrite}
          veiled={!inRoom && state !== 'contact'}
          linksInert={conversation.request === 'received' || (!inRoom && !open && state !== 'contact')}
          onThread={openThread}
        />
      </AppContext.Provider>
    </>
  );
}

const requestPart = lazy(() => import('../message_requests/request_bar.tsx'), 'RequestBar');
const strangerPart = lazy(() => import('../message_requests/stranger_banner.tsx'), 'StrangerBanner');
export const headPart = lazy(() => import('../rooms/room.tsx'), 'RoomHeader');
export const personHeadPart = lazy(() => import('./direct_chat_header.tsx'), 'DirectChatHeader');
const pinBar = lazy(() => import('../pinned_messages/pinned_bar.tsx'), 'PinnedBar');
const aboutPart = lazy(() => import('../rooms/room_info.tsx'), 'RoomInfo');
/** Placeholder while a header is loading. */
const headMeanwhile = <div class="bar" />;
const threads = () => import('../threads/thread.tsx');
const threadPart = lazy(threads, 'Thread');
const threadsPart = lazy(threads, 'Threads');
const chatSearch = lazy(() => import('../search/search_pane.tsx'), 'ChatSearch');
