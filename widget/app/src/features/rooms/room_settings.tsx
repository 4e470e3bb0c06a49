// Settings of a room, for its owners and moderators.

import type { Conversation, RoomChange, RoomView } from '@kith/client';
import { useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import danger from '../../ui/theme/danger.css?inline';
import { useWords } from '../../wording/late_words.ts';
import { failureOf } from './room_errors.ts';
import { PictureField } from './room_picture_field.tsx';

/** The choices for slow mode, in seconds. */
const SLOW = [0, 5, 10, 30, 60, 300, 900];

interface Props {
  conversation: Conversation;
  room: RoomView;
  /** Shows the chat, which says that the room is closed. */
  onClose(): void;
}

export function RoomSettings({ conversation, room, onClose }: Props) {
  const { key } = conversation;
  const { client, announce, confirm } = useAppContext();
  const words = useWords('rooms');
  useStyles(danger);
  const [name, setName] = useState(room.name);
  const [topic, setTopic] = useState(room.topic ?? '');
  const [most, setMost] = useState(room.maxMembers > 0 ? String(room.maxMembers) : '');
  const [failed, setFailed] = useState<string>();
  const change = (what: RoomChange) => {
    setFailed(undefined);
    client.changeRoom(key, what).then(
      () => announce(words.saved),
      (error: unknown) => setFailed(failureOf(error, words)),
    );
  };
  const owner = room.role === 'owner';
  const askToClose = () =>
    confirm({
      title: words.closeRoomAsk(room.name),
      text: words.closeRoomExplain,
      action: words.closeRoom,
      onYes: () => {
        onClose();
        client.leave(key, true).catch((error: unknown) => announce(failureOf(error, words)));
      },
    });
  const slow = SLOW.includes(room.slowMs / 1_000) ? SLOW : [...SLOW, room.slowMs / 1_000];
  return (
    <form
      class="room-form"
      onSubmit={event => {
        event.preventDefault();
        if (name.trim() !== '') change({ ...(owner && { name: name.trim() }), topic: topic.trim() });
      }}
    >
      <PictureField conversation={conversation} mayChoose={owner} />
      {/* Only an owner may rename the room. */}
      {owner && (
        <label>
          {words.roomName}
          <input
            value={name}
            maxLength={100}
            required
            onInput={event => setName(event.currentTarget.value)}
          />
        </label>
      )}
      <label>
        {words.roomTopic}
        <textarea
          value={topic}
          maxLength={300}
          rows={2}
          onInput={event => setTopic(event.currentTarget.value)}
        />
      </label>
      <div class="room-form-buttons">
        <button type="submit" class="button button-main">
          {words.save}
        </button>
      </div>
      {failed && (
        <p class="room-failed" role="alert">
          {failed}
        </p>
      )}
      <label>
        {words.maxMembers}
        <input
          type="number"
          min={1}
          max={1_000_000}
          value={most}
          aria-describedby="room-most-hint"
          onInput={event => setMost(event.currentTarget.value)}
          onChange={event => {
            const wanted = event.currentTarget.value.trim();
            if (wanted === '' || Number(wanted) > 0) change({ maxMembers: Math.floor(Number(wanted)) });
          }}
        />
        <span class="choice-hint" id="room-most-hint">
          {words.maxMembersHint}
        </span>
      </label>
      <div class="choices">
        <button
          type="button"
          role="switch"
          class="choice"
          aria-checked={room.frozen}
          aria-label={words.freeze}
          aria-describedby="room-freeze-hint"
          onClick={() => change({ frozen: !room.frozen })}
        >
          <span class="choice-mark" aria-hidden="true">
            <Icon name="snow" />
          </span>
          <span class="grow">
            <span class="choice-name">{words.freeze}</span>
            <span class="choice-hint" id="room-freeze-hint">
              {words.freezeHint}
            </span>
          </span>
          <span class="switch" aria-hidden="true" />
        </button>
      </div>
      <label>
        {words.slowMode}
        <select
          value={String(room.slowMs / 1_000)}
          onChange={event => change({ slowMs: Number(event.currentTarget.value) * 1_000 })}
        >
          {slow.map(seconds => (
            <option key={seconds} value={String(seconds)} selected={seconds === room.slowMs / 1_000}>
              {seconds === 0
                ? words.slowOff
                : seconds < 60
                  ? words.seconds(seconds)
                  : words.minutes(Math.round(seconds / 60))}
            </option>
          ))}
        </select>
      </label>
      {owner && (
        <button type="button" class="button button-danger" onClick={askToClose}>
          <Icon name="block" />
          {words.closeRoom}
        </button>
      )}
    </form>
  );
}
