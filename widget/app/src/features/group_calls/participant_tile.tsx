// The tiles of a room's call: picture or avatar, name and microphone; for others also voice and connection state.

import { useMemo, useRef, useState } from 'preact/hooks';
import { useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useWords } from '../../wording/late_words.ts';
import { Sight, Voice } from '../calls/media_elements.tsx';
import type { GroupCallView, Tile } from './group_call_view.ts';

interface Props {
  tile: Tile;
  /** Device id of a loudspeaker. */
  speaker: string | undefined;
}

export function OtherTile({ tile, speaker }: Props) {
  const words = useWords('groupCalls');
  const calls = useWords('calls');
  const person = useTopic(`person:${tile.user}`, one => one.person(tile.user));
  const [silenced, setSilenced] = useState(false);
  const voice = useRef<HTMLAudioElement>(null);
  const { state, theirs } = tile;
  const connected = state === 'connected';
  const pictured = connected && (theirs?.camera || theirs?.screen) === true;
  const muted = connected && theirs?.mic === false;
  const how = connected
    ? theirs?.weak
      ? calls.theirVideoWeak(person.name)
      : undefined
    : words.states[state];
  return (
    <li
      class={['call-tile', tile.speaking ? 'is-speaking' : '', pictured ? '' : 'is-dark'].join(' ')}
      data-user={tile.user}
      data-state={state}
    >
      <Sight
        stream={tile.picture}
        label={theirs?.screen ? calls.theirScreen(person.name) : calls.theirVideo(person.name)}
        class={theirs?.screen ? 'call-tile-picture call-whole' : 'call-tile-picture'}
      />
      <Voice stream={tile.voice} speaker={speaker} element={voice} onSilenced={setSilenced} />
      {!pictured && (
        <span class="call-tile-face" aria-hidden="true">
          <Avatar person={person} size="large" />
        </span>
      )}
      <p class="call-tile-name">
        {muted && <Icon name="voiceOff" />}
        <bdi class="clip">{person.name}</bdi>
        {muted && <span class="hidden-text">{calls.theirMicOff(person.name)}</span>}
      </p>
      {how && <p class="call-tile-state">{how}</p>}
      {silenced && (
        <button
          type="button"
          class="call-hear"
          onClick={() => void voice.current?.play().then(() => setSilenced(false))}
        >
          <Icon name="speaker" />
          {calls.hearThem}
        </button>
      )}
    </li>
  );
}

export function OwnTile({ shown }: { shown: GroupCallView }) {
  const calls = useWords('calls');
  const me = useTopic('me', one => one.me());
  const person = useTopic(`person:${me?.user ?? ''}`, one => one.person(me?.user ?? ''));
  const own = useMemo(() => (shown.own ? new MediaStream([shown.own]) : undefined), [shown.own]);
  return (
    <li class={own ? 'call-tile' : 'call-tile is-dark'} data-own>
      {own ? (
        <Sight
          stream={own}
          label={calls.ownVideo}
          class={shown.screen ? 'call-tile-picture call-whole' : 'call-tile-picture call-mirrored'}
        />
      ) : (
        <span class="call-tile-face" aria-hidden="true">
          <Avatar person={person} size="large" />
        </span>
      )}
      <p class="call-tile-name">
        {!shown.mic && <Icon name="voiceOff" />}
        <bdi class="clip">{calls.you}</bdi>
      </p>
    </li>
  );
}
