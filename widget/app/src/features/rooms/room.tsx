// The parts of a chat that only rooms have: the header, and the bar that replaces the composer for members
// who may not write.

import type { Conversation, ConversationKey, LeftReason, Notice, RoomView } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { ChatHeader } from '../chat/chat_header.tsx';
import { RoomMark } from '../chats/chat_row.tsx';
import { rowActions } from '../chats/row_menu.ts';
import '../../ui/icon/lazy_shapes.ts';
import { type AppContextValue, useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords, wordsOf } from '../../wording/late_words.ts';
import { typingText } from '../chat/typing_text.ts';
import { keepsOrder, silenced } from './may_write.ts';
import css from './room.css?inline';
import { failureOf } from './room_errors.ts';
import { useRoomNames } from './room_names.ts';

export { lateWords as words } from '../../wording/late_words.ts';

const dateJump = lazy(() => import('../chat/date_jump.tsx'), 'DateJump');
const mark = lazy(() => import('../threads/thread_updates.tsx'), 'ThreadUpdates');

interface HeadProps {
  conversation: Conversation;
  onBack: (() => void) | undefined;
  onAbout(): void;
  onSearch(): void;
  onThreads(): void;
  /** Receives the context with the nicknames of the room; undefined if it has none, or is left. */
  onNames(named: AppContextValue | undefined): void;
  corner: ComponentChildren;
}

export function RoomHeader({
  conversation,
  onBack,
  onAbout,
  onSearch,
  onThreads,
  onNames,
  corner,
}: HeadProps) {
  useStyles(css);
  const context = useAppContext();
  const { client, confirm, announce } = context;
  const words = useWords('rooms');
  const now = useNow();
  const { key, room, with: face } = conversation;
  const typing = useTopic(`typing:${key}`, one => one.typing(key));
  const member = room?.role !== undefined;
  const named = useRoomNames(conversation);
  useEffect(() => {
    onNames(named);
    return () => onNames(undefined);
  }, [named, onNames]);
  const [picksDate, setPicksDate] = useState(false);
  // Joins and leaves cause no event here. Joining again returns the current number of members.
  useEffect(() => {
    if (member) client.join(key).catch(() => undefined);
  }, [client, key, member]);
  const below =
    typing.length > 0
      ? typingText(words, typing, (named ?? context).client)
      : room && words.roomCount({ count: room.members, number: words.number(room.members) });
  const items = () => {
    const leave = () =>
      confirm({
        title: words.leaveAsk(face.name),
        // The last member closes the room by leaving it, if it has an owner.
        text: room?.role === 'owner' && room.members === 1 ? words.closeRoomExplain : words.leaveExplain,
        action: words.leave,
        onYes: () => client.leave(key).catch((error: unknown) => announce(failureOf(error, words))),
      });
    return [
      { icon: 'people', text: words.aboutRoom, run: onAbout } as const,
      { icon: 'search', text: wordsOf(context.wording, 'chats').searchHere, run: onSearch } as const,
      ...(conversation.exists
        ? [
            {
              icon: 'calendar',
              text: wordsOf(context.wording, 'chats').jumpToDate,
              run: () => setPicksDate(true),
            } as const,
          ]
        : []),
      ...(member ? [{ icon: 'thread', text: words.threads, run: onThreads } as const] : []),
      ...(member ? rowActions(context, conversation, now) : []),
      ...(member ? [{ icon: 'leave', text: words.leave, danger: true, run: leave } as const] : []),
    ];
  };
  // Members who may write may also call.
  const calls = room && silenced(room) === undefined;
  const callProps = { props: { room: key } };
  return (
    <>
      <ChatHeader name={face.name} onBack={onBack} items={items} corner={corner}>
        <h2 class="hidden-text">{face.name}</h2>
        <button type="button" class="room-head grow" title={words.aboutRoom} onClick={onAbout}>
          <Avatar person={face} size="small" room />
          <span class="chat-who grow">
            <span class="room-head-line">
              {room && <RoomMark room={room} />}
              <span class="chat-name clip">
                <bdi>{face.name}</bdi>
              </span>
            </span>
            <span class={typing.length > 0 ? 'chat-presence is-typing clip' : 'chat-presence clip'}>
              {below}
            </span>
          </span>
        </button>
        {calls && <Lazy part={callButton} {...callProps} />}
      </ChatHeader>
      {picksDate && (
        <Lazy
          part={dateJump}
          props={{ conversation, onClose: () => setPicksDate(false) }}
          onFailed={() => setPicksDate(false)}
        />
      )}
      {member && (
        <Lazy part={mark} props={{ conversation: key, onOpen: onThreads }} onFailed={() => undefined} />
      )}
      {calls && <Lazy part={callLine} {...callProps} />}
    </>
  );
}

const callPart = () => import('../group_calls/room_call_bar.tsx');
const callButton = lazy(callPart, 'RoomCallButton');
const callLine = lazy(callPart, 'RoomCallLine');

interface FootProps {
  conversation: Conversation;
  composer: ComponentChildren;
}

export function RoomFooter({ conversation, composer }: FootProps) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const { key, room, with: face } = conversation;
  /** The reason why the membership ended while the member viewed this room. */
  const [out, setOut] = useState<LeftReason>();
  useEffect(
    () =>
      client.on('left', one => {
        if (one.key !== key) return;
        setOut(one.reason);
        announce(words.leftRoom[one.reason]);
      }),
    [client, key, words, announce],
  );
  const noticeOf = useNotice(key);
  const mute = noticeOf('mute');
  const ban = noticeOf('ban');
  // The request bar above has the buttons that answer this invitation.
  if (conversation.requestedBy !== undefined) return null;
  if (room === undefined && out === undefined) return <>{composer}</>;
  const why = room ? silenced(room) : 'stranger';
  if (why === 'stranger') return <Join conversation={conversation} name={face.name} out={out} ban={ban} />;
  if (why !== undefined) {
    const text = {
      announcement: words.onlyModeratorsWrite,
      muted: mute?.until === undefined ? words.mutedHere : words.mutedUntil(words.full(mute.until)),
      frozen: words.frozenHere,
    }[why];
    const icon = { announcement: 'megaphone', muted: 'muted', frozen: 'snow' } as const;
    return (
      <p class="room-note">
        <Icon name={icon[why]} />
        <span>
          {text}
          {why === 'muted' && mute?.reason && <bdi class="room-reason">{mute.reason}</bdi>}
        </span>
      </p>
    );
  }
  return (
    <>
      {room && room.slowMs > 0 && !keepsOrder(room) && (
        <SlowMode conversation={conversation} room={room} key={key} />
      )}
      <Joined room={key} />
      {composer}
    </>
  );
}

/** Returns a function that finds the active notice of a kind in this room. */
function useNotice(key: ConversationKey): (kind: Notice['kind']) => Notice | undefined {
  const { client } = useAppContext();
  const notices = useTopic('notices', one => one.notices());
  const ofRooms = notices.filter(one => one.conversation !== undefined);
  const [id, setId] = useState<string>();
  // A notice contains the room's id of the wire protocol, so convert the key.
  useEffect(() => {
    setId(undefined);
    if (ofRooms.length === 0) return;
    client
      .rich()
      .then(one => setId(one.idOf(key)))
      .catch(() => undefined);
  }, [client, key, ofRooms.length]);
  return kind =>
    ofRooms.findLast(
      one => one.conversation === id && one.kind === kind && (one.until ?? Infinity) > Date.now(),
    );
}

const MOST_JOINED = 3;
const JOINED_SHOWN_MS = 20_000;

/** The members who have just joined, one line each. */
function Joined({ room }: { room: ConversationKey }) {
  const { client } = useAppContext();
  const words = useWords('rooms');
  const [users, setUsers] = useState<readonly string[]>([]);
  const me = client.me()?.user;
  useEffect(() => {
    setUsers([]);
    return client.on('joined', one => {
      if (one.key !== room) return;
      const others = one.users.filter(user => user !== me);
      setUsers(before => [...before.filter(user => !others.includes(user)), ...others].slice(-MOST_JOINED));
    });
  }, [client, room, me]);
  useEffect(() => {
    if (users.length === 0) return;
    const timer = setTimeout(() => setUsers([]), JOINED_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [users]);
  return (
    <div class="room-joined" role="status">
      {users.map(user => (
        <p key={user}>
          <bdi>{words.personJoined(client.person(user).name)}</bdi>
        </p>
      ))}
    </div>
  );
}

interface JoinProps {
  conversation: Conversation;
  name: string;
  out: LeftReason | undefined;
  ban: Notice | undefined;
}

function Join({ conversation, name, out, ban }: JoinProps) {
  const { client, announce } = useAppContext();
  const words = useWords('rooms');
  const [failed, setFailed] = useState<string>();
  const leftText =
    ban?.until !== undefined ? words.bannedUntil(words.full(ban.until)) : out && words.leftRoom[out];
  const join = () =>
    client.join(conversation.key).then(
      () => announce(words.joined),
      (error: unknown) => setFailed(failureOf(error, words)),
    );
  return (
    <div class="room-note">
      <p class="grow" role={failed === undefined ? undefined : 'alert'}>
        {failed ?? leftText ?? words.joinAsk(name)}
        {ban?.reason && <bdi class="room-reason">{ban.reason}</bdi>}
      </p>
      {out !== 'banned' && out !== 'closed' && conversation.room?.kind !== 'private' && (
        <button type="button" class="button button-main" onClick={join}>
          {words.join}
        </button>
      )}
    </div>
  );
}

/** Computes the wait from the member's own last message. The server enforces it. */
function SlowMode({ conversation: { key }, room }: { conversation: Conversation; room: RoomView }) {
  const words = useWords('rooms');
  const timeline = useTopic(`timeline:${key}`, one => one.timeline(key));
  const last = timeline.messages.findLast(one => one.mine && one.state !== 'failed');
  const [now, setNow] = useState(Date.now);
  const until = last === undefined ? 0 : last.time + room.slowMs;
  const left = Math.ceil((until - now) / 1_000);
  useEffect(() => {
    const tick = () => {
      setNow(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    };
    const timer = setInterval(tick, 1_000);
    tick();
    return () => clearInterval(timer);
  }, [until]);
  if (left <= 0) return null;
  return (
    <p class="room-slow" role="timer">
      <Icon name="clock" />
      {words.slowWait(Math.min(left, Math.ceil(room.slowMs / 1_000)))}
    </p>
  );
}
