// What a chat has more where it is a room: its head, and what stands in the composer's place while one may not write.

import type { Conversation, LeftReason, RoomView } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Avatar } from '../avatar/avatar.tsx';
import { ChatBar } from '../chat/chat_bar.tsx';
import { RoomMark } from '../chats_tab/chat_row.tsx';
import { rowActions } from '../chats_tab/row_menu.ts';
import { chatWords } from '../chats_tab/words.ts';
import { Icon } from '../icon/icon.tsx';
import '../icon/late_shapes.ts';
import { Late, late } from '../late.tsx';
import { useSheet } from '../sheets.ts';
import { useNow, useSurroundings, useTopic } from '../surroundings.tsx';
import { together, useWords } from '../wording/late_words.ts';
import { isolated } from '../wording/wording.ts';
import { failureOf } from './failure.ts';
import { keepsOrder, silenced } from './may_write.ts';
import css from './room.css?inline';
import { roomWords } from './words.ts';

export const words = together(roomWords, chatWords);
const dateJump = late(() => import('../chat/date_jump.tsx'), 'DateJump');
const mark = late(() => import('../thread/mark.tsx'), 'ThreadsMark');

interface HeadProps {
  conversation: Conversation;
  onBack: (() => void) | undefined;
  onAbout(): void;
  onSearch(): void;
  onThreads(): void;
  corner: ComponentChildren;
}

export function RoomHead({ conversation, onBack, onAbout, onSearch, onThreads, corner }: HeadProps) {
  useSheet(css);
  const surroundings = useSurroundings();
  const { client, confirm, announce } = surroundings;
  const words = useWords(roomWords);
  const now = useNow();
  const { key, room, with: face } = conversation;
  const typing = useTopic(`typing:${key}`, one => one.typing(key));
  const member = room?.role !== undefined;
  const [picksDate, setPicksDate] = useState(false);
  // Nobody is told who comes and goes; whoever is in already and joins is told how many there are.
  useEffect(() => {
    if (member) client.join(key).catch(() => undefined);
  }, [client, key, member]);
  const below =
    typing.length > 0
      ? words.areTyping(typing.map(user => isolated(client.person(user).name)))
      : room && words.roomCount(room.members, words.number(room.members));
  const items = () => {
    const leave = () =>
      confirm({
        title: words.leaveAsk(face.name),
        text: words.leaveExplain,
        action: words.leave,
        onYes: () => client.leave(key).catch((error: unknown) => announce(failureOf(error, words))),
      });
    return [
      { icon: 'people', text: words.aboutRoom, run: onAbout } as const,
      { icon: 'search', text: chatWords.of(surroundings.wording).searchHere, run: onSearch } as const,
      ...(conversation.exists
        ? [
            {
              icon: 'calendar',
              text: chatWords.of(surroundings.wording).jumpToDate,
              run: () => setPicksDate(true),
            } as const,
          ]
        : []),
      ...(member ? [{ icon: 'thread', text: words.threads, run: onThreads } as const] : []),
      ...(member ? rowActions(surroundings, conversation, now) : []),
      ...(member ? [{ icon: 'leave', text: words.leave, danger: true, run: leave } as const] : []),
    ];
  };
  // Who may write here may call here.
  const calls = room && silenced(room) === undefined;
  const callProps = { props: { room: key } };
  return (
    <>
      <ChatBar name={face.name} onBack={onBack} items={items} corner={corner}>
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
        {calls && <Late part={callButton} {...callProps} />}
      </ChatBar>
      {picksDate && (
        <Late
          part={dateJump}
          props={{ conversation, onClose: () => setPicksDate(false) }}
          onFailed={() => setPicksDate(false)}
        />
      )}
      {member && (
        <Late part={mark} props={{ conversation: key, onOpen: onThreads }} onFailed={() => undefined} />
      )}
      {calls && <Late part={callLine} {...callProps} />}
    </>
  );
}

const callPart = () => import('../room_call/room_call.tsx');
const callButton = late(callPart, 'RoomCallButton');
const callLine = late(callPart, 'RoomCallLine');

interface FootProps {
  conversation: Conversation;
  composer: ComponentChildren;
}

export function RoomFoot({ conversation, composer }: FootProps) {
  useSheet(css);
  const { client, announce } = useSurroundings();
  const words = useWords(roomWords);
  const { key, room, with: face } = conversation;
  /** Somebody has shown one the door, while one looked. */
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
  // Whoever is asked into a room answers above, in the banner.
  if (conversation.requestedBy !== undefined) return null;
  if (room === undefined && out === undefined) return <>{composer}</>;
  const why = room ? silenced(room) : 'stranger';
  if (why === 'stranger') return <Join conversation={conversation} name={face.name} out={out} />;
  if (why !== undefined) {
    const text = {
      announcement: words.onlyModeratorsWrite,
      muted: words.mutedHere,
      frozen: words.frozenHere,
    }[why];
    const icon = { announcement: 'megaphone', muted: 'muted', frozen: 'snow' } as const;
    return (
      <p class="room-note">
        <Icon name={icon[why]} />
        {text}
      </p>
    );
  }
  return (
    <>
      {room && room.slowMs > 0 && !keepsOrder(room) && (
        <SlowMode conversation={conversation} room={room} key={key} />
      )}
      {composer}
    </>
  );
}

interface JoinProps {
  conversation: Conversation;
  name: string;
  out: LeftReason | undefined;
}

function Join({ conversation, name, out }: JoinProps) {
  const { client, announce } = useSurroundings();
  const words = useWords(roomWords);
  const [failed, setFailed] = useState<string>();
  const join = () =>
    client.join(conversation.key).then(
      () => announce(words.joined),
      (error: unknown) => setFailed(failureOf(error, words)),
    );
  return (
    <div class="room-note">
      <p class="grow" role={failed === undefined ? undefined : 'alert'}>
        {failed ?? (out ? words.leftRoom[out] : words.joinAsk(name))}
      </p>
      {out !== 'banned' && conversation.room?.kind !== 'private' && (
        <button type="button" class="button button-main" onClick={join}>
          {words.join}
        </button>
      )}
    </div>
  );
}

/** Until when one waits follows from one's own last message; the server has the last word. */
function SlowMode({ conversation: { key }, room }: { conversation: Conversation; room: RoomView }) {
  const words = useWords(roomWords);
  const timeline = useTopic(`timeline:${key}`, one => one.timeline(key));
  const last = timeline.messages.findLast(one => one.mine && one.state !== 'failed');
  const [now, setNow] = useState(Date.now);
  const left = last === undefined ? 0 : Math.ceil((last.time + room.slowMs - now) / 1_000);
  useEffect(() => {
    setNow(Date.now());
    if (left <= 0) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [last?.id, left > 0]);
  if (left <= 0) return null;
  return (
    <p class="room-slow" role="timer">
      <Icon name="clock" />
      {words.slowWait(Math.min(left, Math.ceil(room.slowMs / 1_000)))}
    </p>
  );
}
