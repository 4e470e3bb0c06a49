// A thread in the place of its room: the message below which it hangs, the replies, and a place to answer.

import {
  type Conversation,
  type Message,
  RequestError,
  type Rich,
  type Sticker,
  type ThreadView,
} from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import barCss from '../../ui/header_bar/header_bar.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import { useMentionNames } from '../chat/use_mention_names.ts';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { isLeftOut } from '../message/blocked_author.ts';
import { MessageView } from '../message/message.tsx';
import type { MessageActions } from '../message/message_menu.ts';
import css from '../message_extras/message_extras.css?inline';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: Conversation;
  root: number;
  /** Actions on a message of the room. */
  actions: MessageActions;
  onBack(): void;
  corner: ComponentChildren;
}

export function Thread({ conversation, root, actions, onBack, corner }: Props) {
  useStyles(barCss);
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('threads');
  const { key } = conversation;
  const timeline = useTopic(`timeline:${key}`, one => one.timeline(key));
  const [view, setView] = useState<ThreadView>();
  const [pages, setPages] = useState<readonly Message[]>([]);
  const [more, setMore] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  const failed = useCallback(
    (error: unknown) => {
      const gone = error instanceof RequestError && error.code === 'no_such_message';
      announce(gone ? words.deletedMessage : words.somethingFailed);
    },
    [announce, words],
  );

  useEffect(() => {
    let wants = true;
    client
      .rich()
      .then(async rich => {
        const [seen, page] = await Promise.all([rich.thread(key, root), rich.replies(key, root)]);
        if (!wants) return;
        setView(seen);
        setPages(page.messages);
        setMore(page.more);
      })
      .catch(failed);
    return () => {
      wants = false;
    };
  }, [client, key, root, failed]);

  // Live replies come from the room's timeline, which also has the newest edits; pages only fill in the past.
  const live = useMemo(() => timeline.messages.filter(one => one.thread === root), [timeline, root]);
  const replies = useMemo(() => merged(pages, live), [pages, live]);
  const above = timeline.messages.find(one => one.seq === root) ?? view?.root;
  const nameForMention = useMentionNames(replies, true);
  const count = Math.max(replies.length, above?.replies?.count ?? 0);

  // A visible thread is marked as read.
  useEffect(() => {
    if (!view?.follows || count === 0 || document.visibilityState !== 'visible') return;
    client
      .rich()
      .then(rich => rich.thread(key, root, { read: count }))
      .catch(() => undefined);
  }, [client, key, root, count, view?.follows]);
  const newest = replies.at(-1)?.id;
  useLayoutEffect(() => {
    const element = body.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [newest]);

  const older = () => {
    client
      .rich()
      .then(rich => rich.replies(key, root, replies[0]?.seq))
      .then(page => {
        setPages([...page.messages, ...pages]);
        setMore(page.more);
      })
      .catch(failed);
  };
  const follow = (on: boolean) => {
    client
      .rich()
      .then(rich => rich.thread(key, root, { follow: on }))
      .then(setView, failed);
  };
  const post = (send: (rich: Rich) => void) => {
    client.rich().then(
      rich => {
        send(rich);
        // Writing in a thread follows it.
        if (view && !view.follows) setView({ ...view, follows: true });
      },
      () => announce(words.loadFailed),
    );
  };
  const inside = useMemo<MessageActions>(() => ({ ...actions, inThread: true }), [actions]);
  const draw = (message: Message, at: number) => (
    <MessageView
      key={message.id}
      message={message}
      name={message.mine ? words.you : client.person(message.from).name}
      sender={message.mine ? undefined : client.person(message.from)}
      quoted={undefined}
      first={replies[at - 1]?.from !== message.from}
      last={replies[at + 1]?.from !== message.from}
      sayState={false}
      linksInert={false}
      tabIndex={0}
      nameOf={nameForMention}
      actions={inside}
      onFocus={() => undefined}
    />
  );
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
      <div ref={body} class="thread-body" role="log" aria-live="off" aria-label={words.thread}>
        {above && draw(above, -2)}
        <p class="thread-rule">{count === 0 ? words.threadEmpty : words.replies(count)}</p>
        {more && (
          <button type="button" class="button button-plain thread-older" onClick={older}>
            {words.threadOlder}
          </button>
        )}
        {replies.map(draw)}
      </div>
      {!actions.readOnly && above && !above.deleted && (
        <Write
          onSend={text => post(rich => rich.reply(key, root, text))}
          onSticker={sticker => post(rich => rich.sticker(key, sticker, { thread: root }))}
        />
      )}
    </>
  );
}

function Write({ onSend, onSticker }: { onSend(text: string): void; onSticker(sticker: Sticker): void }) {
  const { pickEmoji } = useAppContext();
  const words = useWords('threads');
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), []);
  const send = () => {
    if (text.trim() === '') return;
    onSend(text);
    setText('');
    field.current?.focus();
  };
  return (
    <form
      class="thread-write"
      onSubmit={event => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        dir={text === '' ? undefined : 'auto'}
        aria-label={words.threadWrite}
        placeholder={words.threadWrite}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          send();
        }}
      />
      <button
        type="button"
        class="icon-button"
        aria-label={words.emoji}
        title={words.emoji}
        onClick={event =>
          pickEmoji({
            anchor: event.currentTarget,
            onPick: emoji => setText(before => before + emoji),
            onSticker,
          })
        }
      >
        <Icon name="smile" />
      </button>
      <button
        type="submit"
        class="composer-send"
        aria-label={words.send}
        title={words.send}
        aria-disabled={text.trim() === ''}
      >
        <Icon name="send" />
      </button>
    </form>
  );
}

/** Each message once, as it is known last; by seq, and then what is on its way. */
export function merged(pages: readonly Message[], live: readonly Message[]): readonly Message[] {
  const byId = new Map<string, Message>();
  for (const one of [...pages, ...live]) byId.set(`${one.from} ${one.id}`, one);
  const place = (one: Message) => one.seq ?? Number.MAX_SAFE_INTEGER;
  return [...byId.values()].sort((a, b) => place(a) - place(b));
}

interface ListProps {
  conversation: Conversation;
  onOpen(root: number): void;
  onBack(): void;
  corner: ComponentChildren;
}

/** The threads of a room that one follows. */
export function Threads({ conversation, onOpen, onBack, corner }: ListProps) {
  useStyles(barCss);
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('threads');
  const { key } = conversation;
  const [threads, setThreads] = useState<readonly ThreadView[]>();
  useEffect(() => {
    let wants = true;
    client
      .rich()
      .then(rich => rich.threads(key))
      .then(
        all => wants && setThreads(all),
        () => announce(words.loadFailed),
      );
    return () => {
      wants = false;
    };
  }, [client, key, announce, words]);
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
        {threads?.length === 0 && <p class="sheet-hint forward-none">{words.threadsNone}</p>}
        <ul class="threads-list">
          {threads?.map(({ root, unread }) => (
            <li key={root.id}>
              <button type="button" class="threads-row" onClick={() => onOpen(root.seq ?? 0)}>
                <LabeledText class="threads-root">
                  {root.deleted ? words.deletedMessage : isLeftOut(key, root, client) ? '…' : root.body}
                </LabeledText>
                <span>
                  {words.replies(root.replies?.count ?? 0)}
                  {unread > 0 && <b class="threads-new"> · {words.threadNew(unread)}</b>}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
