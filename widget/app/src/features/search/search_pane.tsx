// The search for people, rooms and messages in one field, and the search for messages of one chat.

import { type Conversation, type ConversationKey, direct, isRoom, type Message } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import choicesCss from '../../ui/choice_list/choice_list.css?inline';
import { Empty } from '../../ui/empty_state/empty_state.tsx';
import barCss from '../../ui/header_bar/header_bar.css?inline';
import { Icon } from '../../ui/icon/icon.tsx';
import { LabeledText } from '../../ui/labeled_text/labeled_text.tsx';
import { LoadFailed } from '../../ui/request/request.tsx';
import { SearchField } from '../../ui/search_field/search_field.tsx';
import { Skeleton } from '../../ui/skeleton/skeleton.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { plainOf } from '../message_text/formatting.ts';
import { excerpt, marked, type Piece } from './highlight.ts';
import css from './search_pane.css?inline';
import { type FoundRoom, type Results, useSearchResults } from './use_search_results.ts';

export { lateWords as words } from '../../wording/late_words.ts';

/** Replaces the list. */
export function Search({ onClose }: { onClose: () => void }) {
  return <Pane onClose={onClose} />;
}

/** Replaces the chat. */
export function ChatSearch({
  conversation,
  onBack,
  corner,
}: {
  conversation: Conversation;
  onBack: () => void;
  corner: ComponentChildren;
}) {
  const words = useWords('search');
  return (
    <>
      <div class="bar chat-bar">
        <button
          type="button"
          class="icon-button"
          aria-label={words.backToChat}
          title={words.backToChat}
          onClick={onBack}
        >
          <Icon name="back" />
        </button>
        <h2 class="chat-name clip grow">{words.searchIn(conversation.with.name)}</h2>
        {corner}
      </div>
      <Pane within={conversation.key} onClose={onBack} onPicked={onBack} />
    </>
  );
}

interface Option {
  id: string;
  draw(): ComponentChildren;
  pick(): void;
}

interface PaneProps {
  within?: ConversationKey;
  onClose(): void;
  /** Called after the member has chosen a result. */
  onPicked?(): void;
}

const LIST = 'search-found';

function Pane({ within, onClose, onPicked }: PaneProps) {
  useStyles(barCss);
  useStyles(choicesCss);
  useStyles(css);
  const words = useWords('search');
  const { announce, openChat } = useAppContext();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const query = typed.trim() === '' ? '' : typed;
  const { results, loading, retry, more, moreFailed } = useSearchResults(query, within);
  useLayoutEffect(() => input.current?.focus({ preventScroll: true }), []);
  // Runs once for each query: a further page of its results must not announce the count or move the selection.
  const found = results?.query;
  const onFound = useEffectEvent(() => {
    setChosen(0);
    if (results) announce(words.found(count(results)));
  });
  useEffect(() => {
    if (found !== undefined) onFound();
  }, [found]);

  const pick = (key: ConversationKey, at?: number) => {
    openChat(key, at);
    onPicked?.();
  };
  const groups = results ? groupsOf(results, pick) : [];
  if (results?.next !== undefined) {
    groups.at(-1)?.options.push({ id: 'found-more', draw: () => <More failed={moreFailed} />, pick: more });
  }
  const options = groups.flatMap(one => one.options);
  const current = options[Math.min(chosen, options.length - 1)];
  useLayoutEffect(() => {
    const element = Array.from(list.current?.querySelectorAll('[role=option]') ?? []).find(
      one => one.id === current?.id,
    );
    element?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);

  const onKeyDown = (event: KeyboardEvent) => {
    // `SearchField` has handled Escape: it cleared its text and prevented the default action.
    if (event.isComposing || event.defaultPrevented) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      setChosen(before => (Math.min(before, options.length - 1) + step + options.length) % options.length);
    } else if (event.key === 'Enter' && current !== undefined) current.pick();
    else if (event.key === 'Escape' && typed === '') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div class="list-tools search-tools" onKeyDown={onKeyDown}>
        <div class="grow">
          <SearchField
            label={within === undefined ? words.searchEverything : words.searchMessages}
            value={typed}
            onChange={setTyped}
            field={{
              ref: input,
              role: 'combobox',
              'aria-expanded': options.length > 0,
              'aria-controls': LIST,
              'aria-autocomplete': 'list',
              ...(current && { 'aria-activedescendant': current.id }),
            }}
          />
        </div>
        {within === undefined && (
          <button type="button" class="button button-plain" onClick={onClose}>
            {words.cancel}
          </button>
        )}
      </div>
      {query === '' ? (
        <Empty
          icon="search"
          title={words.searchTitle}
          hint={within ? words.searchHereHint : words.searchHint}
        />
      ) : options.length === 0 && loading ? (
        <Skeleton />
      ) : options.length === 0 && results?.failed ? (
        <LoadFailed onRetry={retry} />
      ) : options.length > 0 ? (
        <>
          {results?.failed && <LoadFailed onRetry={retry} />}
          <div
            ref={list}
            class="found"
            id={LIST}
            role="listbox"
            aria-label={words.results}
            aria-busy={loading}
          >
            {groups.map(group => (
              <div key={group.title} role="group" aria-label={words[group.title]}>
                <div class="section-title" aria-hidden="true">
                  {words[group.title]}
                </div>
                {group.options.map(one => (
                  <button
                    key={one.id}
                    type="button"
                    tabIndex={-1}
                    id={one.id}
                    role="option"
                    class="found-row"
                    aria-selected={one === current}
                    onClick={one.pick}
                  >
                    {one.draw()}
                  </button>
                ))}
              </div>
            ))}
          </div>
        </>
      ) : (
        <Empty icon="search" title={words.nothingFound(query.trim())} hint={words.nothingFoundHint} />
      )}
    </>
  );
}

interface Group {
  title: 'people' | 'rooms' | 'messages';
  options: Option[];
}

function groupsOf(
  { query, people, rooms, hits }: Results,
  pick: (key: ConversationKey, at?: number) => void,
): Group[] {
  const groups: Group[] = [
    {
      title: 'people',
      options: people.map(person => ({
        id: `found-person-${person.user}`,
        draw: () => <Face person={person} query={query} />,
        pick: () => pick(direct(person.user)),
      })),
    },
    {
      title: 'rooms',
      options: rooms.map(room => ({
        id: `found-room-${room.key}`,
        draw: () => <Room room={room} query={query} />,
        pick: () => pick(room.key),
      })),
    },
    {
      title: 'messages',
      options: hits.map(({ key, message }) => ({
        id: `found-message-${key}-${message.seq}`,
        draw: () => <Hit conversation={key} message={message} query={query} />,
        pick: () => pick(key, message.seq),
      })),
    },
  ];
  return groups.filter(one => one.options.length > 0);
}

function count({ people, rooms, hits }: Results): number {
  return people.length + rooms.length + hits.length;
}

function Marked({ pieces }: { pieces: readonly Piece[] }) {
  return <>{pieces.map((one, at) => (one.hit ? <mark key={at}>{one.text}</mark> : one.text))}</>;
}

function Face({ person, query }: { person: Parameters<typeof Avatar>[0]['person']; query: string }) {
  const presence = useTopic(`presence:${person.user}`, client => client.presence(person.user));
  return (
    <>
      <Avatar person={person} presence={presence.presence} />
      <span class="found-text clip" dir="auto">
        <Marked pieces={marked(person.name, query)} />
      </span>
    </>
  );
}

function Room({ room: { face, room }, query }: { room: FoundRoom; query: string }) {
  return (
    <>
      <Avatar person={face} room />
      <span class="found-text">
        <span class="clip" dir="auto">
          <Marked pieces={marked(face.name, query)} />
        </span>
        {room?.topic && (
          <span class="found-more clip" dir="auto">
            {room.topic}
          </span>
        )}
      </span>
    </>
  );
}

function Hit({
  conversation: key,
  message,
  query,
}: {
  conversation: ConversationKey;
  message: Message;
  query: string;
}) {
  const { wording } = useAppContext();
  const now = useNow();
  const conversation = useTopic(`conversation:${key}`, client => client.conversation(key));
  const other = useTopic(`person:${conversation.with.user}`, client =>
    isRoom(key) ? undefined : client.person(conversation.with.user),
  );
  const sender = useTopic(`person:${message.from}`, client => client.person(message.from));
  const face = other ?? conversation.with;
  const who = message.mine ? wording.you : isRoom(key) ? sender.name : '';
  return (
    <>
      <Avatar person={face} {...(isRoom(key) && { room: true })} />
      <span class="found-text">
        <span class="found-line">
          <span class="clip grow" dir="auto">
            {face.name}
          </span>
          <time class="row-time" dir="auto" dateTime={new Date(message.time).toISOString()}>
            {wording.short(message.time, now)}
          </time>
        </span>
        <LabeledText class="found-more" label={who !== '' && wording.said(who)}>
          <Marked pieces={excerpt(plainOf(message.body), query)} />
        </LabeledText>
      </span>
    </>
  );
}

function More({ failed }: { failed: boolean }) {
  const words = useWords('search');
  return <span class="found-text found-next">{failed ? words.tryAgain : words.more}</span>;
}
