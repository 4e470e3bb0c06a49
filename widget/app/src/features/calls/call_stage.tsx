// Picture and sound of a call: the other side, the own picture in the corner, and the status line.

import type { KnownPerson } from '@kith/client';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useNow } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useWords } from '../../wording/late_words.ts';
import type { CallView } from './call_view.ts';
import { Sight, Voice } from './media_elements.tsx';
import { quality, trouble } from './status_line.ts';

interface Props {
  shown: CallView;
  person: KnownPerson;
  /** The picture of the other side is visible. */
  picture: boolean;
  /** Device id of a loudspeaker. */
  speaker: string | undefined;
  remote: { current: HTMLVideoElement | null };
  onPointerDown(event: PointerEvent): void;
  /** Buttons above the picture. */
  children: ComponentChildren;
}

export function Stage({ shown, person, picture, speaker, remote, onPointerDown, children }: Props) {
  const words = useWords('calls');
  const [silenced, setSilenced] = useState(false);
  const voice = useRef<HTMLAudioElement>(null);
  const own = useMemo(() => (shown.own ? new MediaStream([shown.own]) : undefined), [shown.own]);
  const screen = shown.theirs?.screen;
  return (
    <div class="call-stage" onPointerDown={onPointerDown}>
      <Sight
        stream={shown.holding ? undefined : shown.picture}
        label={screen ? words.theirScreen(person.name) : words.theirVideo(person.name)}
        class={screen ? 'call-remote call-whole' : 'call-remote'}
        element={remote}
      />
      <Voice
        stream={shown.holding ? undefined : shown.voice}
        speaker={speaker}
        element={voice}
        onSilenced={setSilenced}
      />
      {!picture && (
        <div class="call-face" aria-hidden="true">
          <Avatar person={person} size="large" />
        </div>
      )}
      {own && shown.stage !== 'over' && (
        <Sight
          stream={own}
          label={words.ownVideo}
          class={shown.screen ? 'call-own' : 'call-own call-mirrored'}
        />
      )}
      <div class="call-head">
        <div class="grow">
          <p class="call-name clip">
            <bdi>{person.name}</bdi>
          </p>
          <RoomCallStatus shown={shown} name={person.name} />
        </div>
        {children}
      </div>
      {silenced && (
        <button
          type="button"
          class="call-hear"
          onClick={() => void voice.current?.play().then(() => setSilenced(false))}
        >
          <Icon name="speaker" />
          {words.hearThem}
        </button>
      )}
    </div>
  );
}

function RoomCallStatus({ shown, name }: { shown: CallView; name: string }) {
  const words = useWords('calls');
  const now = useNow(1_000);
  return (
    <p class="call-line clip" dir="auto">
      {trouble(shown, name, words) ?? quality(shown, now, words)}
    </p>
  );
}
