// A thread, which replaces its room's chat, and the list of the threads that the member follows.

import type { Client, Conversation, ConversationKey, Message } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo } from 'preact/hooks';
import barCss from '../../ui/header_bar/header_bar.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { AppContext, useAppContext, useSource } from '../../app_context.tsx';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { RequestView } from '../../ui/request/request.tsx';
import { useRequest } from '../../ui/request/use_request.ts';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import type { Wording } from '../../wording/wording.ts';
import { ConversationView } from '../chat/conversation_view.tsx';
import { useWriting } from '../chat/use_writing.ts';
import { isLeftOut } from '../message/blocked_author.ts';
import css from '../message_extras/message_extras.css?inline';
import { gistOf } from '../message_text/plain_text.ts';
import { useRoomNames } from '../rooms/room_names.ts';
import { ThreadSource } from './thread_source.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: Conversation;
  root: number;
  /** Whether the member may write in the room now. */
  mayWrite: boolean;
  onThread(root: number): void;
  onBack(): void;
  corner: ComponentChildren;
}

export function Thread({ conversation, root: seq, mayWrite, onThread, onBack, corner }: Props) {
  useStyles(barCss);
  useStyles(css);
  const context = useAppContext();
  const { client, announce } = context;
  const named = useRoomNames(conversation) ?? context;
  const words = useWords('threads');
  const { key } = conversation;
  const source = useMemo(() => new ThreadSource(client, key, seq), [client, key, seq]);
  useEffect(() => source.open(), [source]);
  const timeline = useSource(source, `timeline:${key}`, one => one.timeline());
  const writing = useWriting(source, key);
  const { view } = source;
  const root = source.root();
  const isGone = timeline.failed === 'no_such_message';
  useEffect(() => {
    if (isGone) announce(words.deletedMessage);
  }, [isGone, announce, words]);
  const follow = (on: boolean) => source.follow(on).catch(() => announce(words.somethingFailed));
  const count = source.count();
  return (
    <>
      <div class="bar chat-bar">
        <button
          type="button"
          class="icon-button"
          aria-label={words.backToRoom}
          title={words.backToRoom}
          onClick={onBack}
        >
          <Icon name="back" />
        </button>
        <div class="chat-who grow">
          <h2 class="chat-name clip">{words.thread}</h2>
          <p class="chat-presence clip">
            <bdi>{conversation.with.name}</bdi>
          </p>
        </div>
        {view && (
          <button
            type="button"
            class="icon-button"
            aria-pressed={view.follows}
            aria-label={view.follows ? words.threadUnfollow : words.threadFollow}
            title={view.follows ? words.threadUnfollow : words.threadFollow}
            onClick={() => follow(!view.follows)}
          >
            <Icon name={view.follows ? 'bell' : 'bell_off'} />
          </button>
        )}
        {corner}
      </div>
      <AppContext.Provider value={named}>
        {root && timeline.more && <RootBar conversation={key} root={root} />}
        {isGone ? (
          <Empty icon="thread" title={words.thread} hint={words.deletedMessage} />
        ) : (
          <ConversationView
            conversation={conversation}
            source={source}
            writing={writing}
            at={undefined}
            hasList
            mayWrite={mayWrite && root !== undefined && !root.deleted}
            veiled={false}
            linksInert={false}
            labels={{ list: words.thread, field: words.threadWrite }}
            count={<p class="thread-count">{count === 0 ? words.threadEmpty : words.replies(count)}</p>}
            onThread={onThread}
          />
        )}
      </AppContext.Provider>
    </>
  );
}

/** Shows the root above the list while the list does not contain it, because older replies are not loaded. */
function RootBar({ conversation, root }: { conversation: ConversationKey; root: Message }) {
  const { client, wording } = useAppContext();
  const name = root.mine ? wording.you : client.person(root.from).name;
  return (
    <p class="thread-root">
      <LabeledText class="" label={<bdi>{wording.said(name)}</bdi>}>
        {gistIn(conversation, root, client, wording)}
      </LabeledText>
    </p>
  );
}

function gistIn(key: ConversationKey, message: Message, client: Client, words: Wording): string {
  if (message.deleted) return words.deletedMessage;
  return isLeftOut(key, message, client) ? '…' : gistOf(message, words);
}

interface ListProps {
  conversation: Conversation;
  onOpen(root: number): void;
  onBack(): void;
  corner: ComponentChildren;
}

/** The threads of a room that the member follows. */
export function Threads({ conversation, onOpen, onBack, corner }: ListProps) {
  useStyles(barCss);
  useStyles(css);
  const { client } = useAppContext();
  const words = useWords('threads');
  const { key } = conversation;
  const load = useCallback(async () => (await client.rich()).threads(key), [client, key]);
  const request = useRequest(load, { refresh: true });
  return (
    <>
      <div class="bar chat-bar">
        <button
          type="button"
          class="icon-button"
          aria-label={words.backToRoom}
          title={words.backToRoom}
          onClick={onBack}
        >
          <Icon name="back" />
        </button>
        <h2 class="chat-name clip grow">{words.threads}</h2>
        {corner}
      </div>
      <div class="tab-panel">
        <RequestView request={request} empty={<p class="sheet-hint forward-none">{words.threadsNone}</p>}>
          {threads => (
            <ul class="threads-list">
              {threads.map(({ root, unread }) => (
                <li key={root.id}>
                  <button type="button" class="threads-row" onClick={() => onOpen(root.seq ?? 0)}>
                    <LabeledText class="threads-root">{gistIn(key, root, client, words)}</LabeledText>
                    <span>
                      {words.replies(root.replies?.count ?? 0)}
                      {unread > 0 && <b class="threads-new"> · {words.threadNew(unread)}</b>}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </RequestView>
      </div>
    </>
  );
}
