// The call of a room in its chat: the button that starts a call, and the bar of a running call.

import type { ConversationKey } from '@kith/client';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/call_shapes.ts';
import { useAppContext, useTopic, useWording } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import css from './room_call_bar.css?inline';
import { useRoomCallStatus } from './room_call_status.ts';

export { lateWords as words } from '../../wording/late_words.ts';

export function RoomCallButton({ room }: { room: ConversationKey }) {
  const { call, openMenu } = useAppContext();
  const words = useWords('groupCalls');
  const kinds = useWords('callLog');
  const standing = useRoomCallStatus(room);
  if (standing === undefined || standing.most === 0 || standing.now) return null;
  const items = [
    { icon: 'phone', text: kinds.callWithVoice, run: () => call({ do: 'join', room, media: 'audio' }) },
    { icon: 'camera', text: kinds.callWithVideo, run: () => call({ do: 'join', room, media: 'video' }) },
  ] as const;
  return (
    <button
      type="button"
      class="icon-button"
      aria-haspopup="menu"
      aria-expanded="false"
      aria-label={words.startCall}
      title={words.startCall}
      onClick={event => openMenu({ anchor: event.currentTarget, label: words.startCall, items: [...items] })}
    >
      <Icon name="phone" />
    </button>
  );
}

export function RoomCallLine({ room }: { room: ConversationKey }) {
  useStyles(css);
  const { call } = useAppContext();
  const words = useWords('groupCalls');
  const standing = useRoomCallStatus(room);
  const me = useTopic('me', one => one.me());
  const { most = 0, now } = standing ?? {};
  if (now === undefined) return null;
  const { here, media } = now;
  const isIn = me !== undefined && here.includes(me.user);
  const isFull = !isIn && here.length >= most;
  const count = words.number(here.length);
  return (
    <div class="room-call" role="status">
      <Icon name={media === 'video' ? 'camera' : 'phone'} />
      <p class="grow">
        {isFull ? words.callIsFull(words.number(most)) : words.callStands(count)}
        <Faces users={here} />
      </p>
      {isIn ? (
        <span class="room-call-note">{words.inThisCall}</span>
      ) : (
        !isFull && (
          <button type="button" class="button button-main" onClick={() => call({ do: 'join', room, media })}>
            {words.joinCall}
          </button>
        )
      )}
    </div>
  );
}

/** List separators of languages that do not use the comma of English. */
const COMMAS: Record<string, string> = { ar: '، ', fa: '، ', ja: '、', zh: '、' };

function Faces({ users }: { users: readonly string[] }) {
  const words = useWording();
  return (
    <span class="room-call-names clip">
      {users.map((user, at) => (
        <span key={user}>
          {at > 0 && (COMMAS[words.language.slice(0, 2)] ?? ', ')}
          <Name user={user} />
        </span>
      ))}
    </span>
  );
}

function Name({ user }: { user: string }) {
  const person = useTopic(`person:${user}`, one => one.person(user));
  return <bdi>{person.name}</bdi>;
}
