// The messages of a chat. Only a window of them is rendered, whatever the length of the chat.

import { type Conversation, isRoom, type Message } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAppContext, useFace, useNow, useSource } from '../../app_context.tsx';
import { badgeText } from '../../shell/tab_bar.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { askToDelete } from '../message/confirm_delete.ts';
import { MessageView } from '../message/message.tsx';
import type { MessageActions } from '../message/message_menu.ts';
import { gistOf } from '../message_text/plain_text.ts';
import { keepsOrder } from '../rooms/may_write.ts';
import type { ConversationSource } from './conversation_source.ts';
import {
  downwards,
  FIRST_WINDOW,
  hasRow,
  type Item,
  itemsOf,
  NEAR,
  slice,
  upwards,
} from './message_list_items.ts';
import { typingText } from './typing_text.ts';
import { useMentionNames } from './use_mention_names.ts';
import { messageBelow, useScrollAnchor } from './use_scroll_anchor.ts';
import type { Writing } from './use_writing.ts';

export interface MessageListProps {
  conversation: Conversation;
  source: ConversationSource;
  /** Labels of the list and of the text field in a thread. */
  labels?: { list: string; field: string };
  /** In a thread: the element between the root and the replies. */
  count?: ComponentChildren;
  /** The message to scroll to. */
  at: { seq: number } | undefined;
  linksInert: boolean;
  /** Pictures of the other user are shown only on request. */
  veiled: boolean;
  writing: Pick<Writing, 'sends' | 'reply' | 'edit'>;
  /** The user may write here now. */
  mayWrite: boolean;
  /** Shows a thread in place of the chat. */
  onThread(root: number): void;
}

const REFUSED_MS = 6_000;

/** A place to scroll to: a message, or the first unread one. */
interface Jump {
  seq: number;
  unread?: true;
}

const unreadBar = lazy(() => import('./unread_bar.tsx'), 'UnreadBar');

export function MessageList({
  conversation,
  source,
  labels,
  count,
  at,
  linksInert,
  veiled,
  writing: { sends, reply, edit },
  mayWrite,
  onThread,
}: MessageListProps) {
  const context = useAppContext();
  const { client, wording: words, announce } = context;
  const key = conversation.key;
  const { thread } = source;
  /** The user may delete messages of others. */
  const isModerator = keepsOrder(conversation.room);
  const timeline = useSource(source, `timeline:${key}`, one => one.timeline(key));
  const typing = useSource(source, `typing:${key}`, one => one.typing(key));
  const other = useFace(conversation);
  const room = isRoom(key);
  const nameForMention = useMentionNames(timeline.messages, room);
  const now = useNow();
  const scroller = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState(FIRST_WINDOW);
  const [atEnd, setAtEnd] = useState(true);
  const [active, setActive] = useState<string>();
  const [seenUpTo, setSeenUpTo] = useState<string>();
  /** Text about a refused action, shown for a short time. The live region has already announced it. */
  const [refused, setRefused] = useState<string>();
  const [jumpTo, setJumpTo] = useState<Jump>();
  /** The first and the last seq on the screen since the last jump. */
  const passed = useRef<{ from: number; to: number }>(undefined);
  /** Unread messages exist before `passed`. */
  const [skips, setSkips] = useState(false);

  const day = useMemo(() => dayByQuarter(time => words.day(time, now)), [words, now]);
  const items = useMemo(() => itemsOf(timeline, day, thread), [timeline, day, thread]);
  const { from, to } = slice(window, items.length);
  const shown = items.slice(from, to);
  const bySeq = useMemo(() => new Map(timeline.messages.map(message => [message.seq, message])), [timeline]);
  const nameOf = (message: Message) => (message.mine ? words.you : client.person(message.from).name);
  const quoted = (message: Message) => ({
    name: nameOf(message),
    body: message.deleted
      ? words.deletedMessage
      : room && client.contact(message.from) === 'blocked'
        ? '…'
        : gistOf(message, words, nameForMention),
  });
  const actions = useMemo<MessageActions>(
    () => ({
      conversation: key,
      reply,
      edit,
      remove: message => askToDelete(context, () => client.remove(key, message.seq ?? 0)),
      react: (message, reaction, on) => client.react(key, message.seq ?? 0, reaction, on),
      showOriginal: seq => setJumpTo({ seq }),
      messages: () => source.timeline(key).messages,
      mayRemove: () => isModerator,
      pin: (message, on) =>
        client.pin(key, message.seq ?? 0, on).catch(() => announce(words.somethingFailed)),
      mayPin: room ? isModerator : mayWrite,
      veiled,
      readOnly: !mayWrite,
      openThread: onThread,
      hasThreads: room,
      inThread: thread !== undefined,
    }),
    [
      client,
      source,
      thread,
      key,
      room,
      words,
      announce,
      context,
      reply,
      edit,
      isModerator,
      mayWrite,
      onThread,
      veiled,
    ],
  );
  useEffect(
    () =>
      client.on('refused', one => {
        if (one.key !== key) return;
        announce(words.changeRefused[one.what]);
        setRefused(words.changeRefused[one.what]);
      }),
    [client, key, announce, words],
  );
  useEffect(() => {
    if (refused === undefined) return;
    const timer = setTimeout(() => setRefused(undefined), REFUSED_MS);
    return () => clearTimeout(timer);
  }, [refused]);

  const unreadFrom = timeline.unreadFrom ?? 0;
  const lineIsThere = lineIsDrawn(shown);
  // The page with the unread line is loading.
  const lineIsAwaited = unreadFrom > 0 && !lineIsThere && timeline.loading !== 'no';
  const { scrolled, toEnd, stuck, placed } = useScrollAnchor(scroller, shown, {
    lineIsAwaited,
    endIsShown: window.below === 0 && !timeline.later,
  });
  const newest = timeline.messages.findLast(one => hasRow(one, thread));
  const tabStop = shown.some(item => item.id === active)
    ? active
    : shown.findLast(item => item.kind === 'message')?.id;

  /** Reports the messages on the screen as seen, if the page is visible. */
  const look = useCallback(() => {
    const element = scroller.current;
    // Before the initial scroll position is set, rows pass over the screen and are not read.
    if (element === null || !placed.current || document.visibilityState !== 'visible') return;
    const { messages } = timeline;
    const rect = element.getBoundingClientRect();
    const indexOf = (row: HTMLElement | undefined) =>
      messages.findIndex(one => one.id === row?.dataset.message);
    const top = messages[indexOf(messageBelow(element, rect.top))]?.seq;
    // If the chat is embedded in a page, its lower part may be outside the browser's viewport.
    const bottom = Math.min(rect.bottom, innerHeight);
    const lowest = messageBelow(element, bottom);
    let last = indexOf(lowest);
    if (lowest && lowest.getBoundingClientRect().top >= bottom) last -= 1;
    // Thread replies have no row here. They count as seen with the row before them.
    for (let next = messages[last + 1]; next && !hasRow(next, thread); next = messages[last + 1]) last += 1;
    while (last >= 0 && messages[last]?.seq === undefined) last -= 1;
    const to = messages[last]?.seq;
    if (to === undefined) return;
    // All rows between two positions of one scroll were on the screen. Rows that a jump skips were not.
    const { from, to: most } = passed.current ?? { from: to, to };
    const isLoaded = from >= (messages[0]?.seq ?? 0) && most <= (messages.findLast(one => one.seq)?.seq ?? 0);
    passed.current = isLoaded
      ? { from: Math.min(from, top ?? to), to: Math.max(most, to) }
      : { from: top ?? to, to };
    setSkips(!source.seen(key, passed.current.to, passed.current.from));
  }, [source, thread, key, timeline, placed]);
  useEffect(look, [look]);
  useEffect(() => {
    const onVisibility = () => {
      // Messages that arrive on a hidden page stay unseen.
      if (document.visibilityState === 'hidden') passed.current = undefined;
      look();
    };
    document.addEventListener('visibilitychange', onVisibility);
    addEventListener('focus', look);
    const scrolledTo = new IntersectionObserver(look, { threshold: [0, 0.5, 1] });
    if (scroller.current) scrolledTo.observe(scroller.current);
    return () => {
      scrolledTo.disconnect();
      document.removeEventListener('visibilitychange', onVisibility);
      removeEventListener('focus', look);
    };
  }, [look]);

  const onScroll = () => {
    const element = scroller.current;
    if (element === null) return;
    scrolled();
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    const end = stuck.current;
    if (end !== atEnd) setAtEnd(end);
    if (end) setSeenUpTo(newest?.id);
    look();
    if (element.scrollTop < NEAR) {
      if (from > 0) {
        setWindow(upwards(window, items.length, element.clientHeight));
      } else if (timeline.more && timeline.loading === 'no' && timeline.failed === undefined) {
        source.loadOlder(key);
      }
    } else if (below < NEAR) {
      if (window.below > 0) setWindow(downwards(window, items.length, element.clientHeight));
      else if (timeline.later && timeline.failed === undefined) source.loadNewer(key);
    }
  };
  const lastId = useRef(items.at(-1)?.id);
  useLayoutEffect(() => {
    const before = items.findLastIndex(item => item.id === lastId.current);
    lastId.current = items.at(-1)?.id;
    // While the user reads further up, new messages are added below the window. A window without items
    // below grows instead.
    const grown = before === -1 ? 0 : items.length - 1 - before;
    if (grown > 0 && !stuck.current) {
      setWindow(old =>
        old.below > 0 ? { ...old, below: old.below + grown } : { ...old, shown: old.shown + grown },
      );
    }
    if (stuck.current) setSeenUpTo(newest?.id);
  }, [items, newest?.id, stuck]);
  // Without a scroll event, items that have arrived would not render. A short first page cannot scroll, and
  // at the very top the wheel scrolls nothing.
  useEffect(() => {
    const element = scroller.current;
    // In a hidden part of the page every height is 0, and the whole history would be loaded.
    if (
      element?.clientHeight &&
      (element.scrollHeight <= element.clientHeight + NEAR || (from > 0 && element.scrollTop < NEAR))
    )
      onScroll();
  });

  const jump = useCallback(() => {
    passed.current = undefined;
    void source.show(key);
    setWindow(FIRST_WINDOW);
    setAtEnd(true);
    toEnd();
  }, [source, key, toEnd]);
  useEffect(() => {
    if (at) setJumpTo(at);
  }, [at]);
  useEffect(() => {
    if (sends > 0) jump();
  }, [sends, jump]);

  // Send one request per jump: the response changes the rendered items, and those must not trigger another request.
  useEffect(() => {
    if (jumpTo === undefined) return;
    const isHere = () => source.timeline(key).messages.some(one => one.seq === jumpTo.seq);
    if (!jumpTo.unread && isHere()) return;
    let wanted = true;
    source.show(key, jumpTo.unread ? 'unread' : jumpTo.seq).then(found => {
      if (!wanted || (found && (jumpTo.unread || isHere()))) return;
      setJumpTo(undefined);
      announce(words.notFound);
    });
    return () => {
      wanted = false;
    };
  }, [jumpTo, source, key, announce, words]);
  useLayoutEffect(() => {
    if (jumpTo === undefined) return;
    const { seq, unread } = jumpTo;
    const root = unread ? undefined : bySeq.get(seq)?.thread;
    if (root !== thread && root !== undefined) {
      setJumpTo(undefined);
      return onThread(root);
    }
    // The message with the first unread seq may no longer exist. Then the next message is the target.
    const index = items.findIndex(
      item => item.kind === 'message' && (unread ? (item.message.seq ?? 0) >= seq : item.message.seq === seq),
    );
    if (index === -1 || (unread && (timeline.unreadFrom !== seq || !lineIsDrawn(items)))) return;
    const id = items[index]?.id;
    stuck.current = false;
    if (index < from || index >= to)
      return setWindow({ shown: 60, below: Math.max(0, items.length - index - 30) });
    setJumpTo(undefined);
    passed.current = undefined;
    const element = messageElement(scroller.current, id);
    element?.scrollIntoView({ block: 'center' });
    element?.focus({ preventScroll: true });
    setAtEnd(false);
    element?.classList.add('flash');
    element?.addEventListener('animationend', () => element.classList.remove('flash'), { once: true });
  }, [jumpTo, bySeq, items, timeline.unreadFrom, from, to, stuck, thread, onThread]);

  const onKeyDown = (event: KeyboardEvent) => {
    const at = (event.target as HTMLElement).dataset.message;
    if (at === undefined) return;
    const messages = shown.filter(item => item.kind === 'message');
    const index = messages.findIndex(item => item.id === at);
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: messages.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    messageElement(scroller.current, messages[next]?.id)?.focus();
  };

  const { unread } = conversation;
  const unseen = timeline.later ? unread : atEnd ? 0 : unseenCount(timeline.messages, seenUpTo, thread);
  return (
    <div class="history">
      {skips && unread > 0 && (
        <Lazy
          part={unreadBar}
          props={{
            count: unread,
            onJump: () => setJumpTo({ seq: conversation.readUpTo + 1, unread: true }),
            onRead: () => source.seen(key, Number.MAX_SAFE_INTEGER),
          }}
          onFailed={() => undefined}
        />
      )}
      <div
        ref={scroller}
        class="history-scroller"
        role="log"
        aria-live="off"
        aria-label={labels?.list ?? words.messagesWith(other.name)}
        aria-busy={timeline.loading !== 'no'}
        tabIndex={shown.length === 0 ? 0 : -1}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div class="history-items">
          {timeline.failed !== undefined && (
            <p class="history-note">
              {words.loadFailed}{' '}
              <button type="button" class="button button-plain" onClick={() => source.loadOlder(key)}>
                {words.tryAgain}
              </button>
            </p>
          )}
          {timeline.loading !== 'no' && timeline.failed === undefined && (
            <p class="history-note history-loading">
              <Icon name="retry" />
              <span class="hidden-text">{words.loading}</span>
            </p>
          )}
          {!thread && !timeline.more && timeline.loading === 'no' && from === 0 && (
            <div class="history-start">
              <Avatar person={other} size="large" room={room} />
              <p class="history-start-name">
                <bdi>{other.name}</bdi>
              </p>
              <p dir="auto">{(room ? words.startOfRoom : words.startOfChat)(other.name)}</p>
            </div>
          )}
          {shown.map(item => {
            if (item.kind === 'day') {
              return (
                <h3 key={item.id} class="day" data-item={item.id}>
                  <span>{words.day(item.time, now)}</span>
                </h3>
              );
            }
            if (item.kind === 'unread') {
              return (
                <h3 key={item.id} class="unread-line" data-item={item.id}>
                  <span>{words.newMessages}</span>
                </h3>
              );
            }
            if (item.kind === 'replies') return count;
            const answered = item.message.replyTo === undefined ? undefined : bySeq.get(item.message.replyTo);
            return (
              <MessageView
                key={item.id}
                message={item.message}
                name={nameOf(item.message)}
                sender={room && !item.message.mine ? client.person(item.message.from) : undefined}
                quoted={answered && quoted(answered)}
                first={item.first}
                last={item.last}
                sayState={item.sayState}
                linksInert={linksInert && !item.message.mine}
                tabIndex={item.id === tabStop ? 0 : -1}
                nameOf={nameForMention}
                actions={actions}
                onFocus={setActive}
              />
            );
          })}
          {typing.length > 0 && <TypingDots text={typingText(words, typing, client)} />}
        </div>
      </div>
      {refused && (
        <p class="history-refused" aria-hidden="true">
          {refused}
        </p>
      )}
      {(!atEnd || timeline.later) && (
        <button
          type="button"
          class="jump"
          aria-label={unseen > 0 ? `${words.jumpToNewest}, ${words.jumpToNew(unseen)}` : words.jumpToNewest}
          title={words.jumpToNewest}
          onClick={jump}
        >
          <Icon name="down" />
          {unseen > 0 && <bdi class="badge">{badgeText(unseen)}</bdi>}
        </button>
      )}
    </div>
  );
}

const QUARTER_MS = 15 * 60_000;

/**
 * Caches the names of days, because formatting them is slow. In every time zone, days begin at a quarter of
 * an hour.
 */
function dayByQuarter(dayOf: (time: number) => string): (time: number) => string {
  const days = new Map<number, string>();
  return time => {
    const quarter = Math.floor(time / QUARTER_MS);
    const day = days.get(quarter) ?? dayOf(time);
    days.set(quarter, day);
    return day;
  };
}

function lineIsDrawn(items: readonly Item[]): boolean {
  return items.some(item => item.kind === 'unread');
}

function TypingDots({ text }: { text: string }) {
  return (
    <div class="typing" title={text}>
      <span class="typing-dot" />
      <span class="typing-dot" />
      <span class="typing-dot" />
      <span class="hidden-text">{text}</span>
    </div>
  );
}

/** Number of others' messages after the last one that the user saw at the end of the chat. */
function unseenCount(
  messages: readonly Message[],
  seenUpTo: string | undefined,
  thread: number | undefined,
): number {
  const at = messages.findLastIndex(message => message.id === seenUpTo);
  return at === -1
    ? 0
    : messages.slice(at + 1).filter(message => !message.mine && hasRow(message, thread)).length;
}

function messageElement(scroller: HTMLElement | null, id: string | undefined): HTMLElement | undefined {
  const all = Array.from(scroller?.querySelectorAll<HTMLElement>('[data-message]') ?? []);
  return all.find(one => one.dataset.message === id);
}
