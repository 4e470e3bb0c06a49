// The window of a room's call: a picture of each participant, the own one, and the controls. It floats over the page.

import type { Messages } from 'virtual:messages';
import { useEffect, useState } from 'preact/hooks';
import { useAppContext, useNow, useTopic } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { duration } from '../call_log/call_duration.ts';
import { CallControls } from '../calls/call_controls.tsx';
import { DeviceChoice } from '../calls/call_options.tsx';
import { chooseDevice, chosenDevice, type DeviceKind } from '../calls/call_preferences.ts';
import { CallWindowButtons } from '../calls/call_window_buttons.tsx';
import { DeviceError } from '../calls/device_error.tsx';
import { useWindow } from '../calls/use_call_window.ts';
import type { GroupCallSession } from './group_call_session.ts';
import { columnsFor, type GroupCallView } from './group_call_view.ts';
import css from './group_call_window.css?inline';
import { OtherTile, OwnTile } from './participant_tile.tsx';
import { useRoomCallStatus } from './room_call_status.ts';

interface Props {
  session: GroupCallSession;
  shown: GroupCallView;
  onCheck(): void;
}

export function GroupCallWindow({ session, shown, onCheck }: Props) {
  useStyles(css);
  const { root } = useAppContext();
  const words = useWords('groupCalls');
  const calls = useWords('calls');
  const [speaker, setSpeaker] = useState(chosenDevice('speaker'));
  const name = useTopic(`conversation:${shown.room}`, one => one.conversation(shown.room).with.name);
  const over = shown.stage === 'over';
  const pane = useWindow(over, () => session.close());
  const { frame, drag, phone, large, options, setOptions } = pane;
  useEffect(() => {
    if (root?.activeElement === null && document.activeElement === document.body) frame.current?.focus();
  }, [root, frame]);

  const choose = (kind: DeviceKind, id: string) => {
    chooseDevice(kind, id);
    if (kind === 'speaker') setSpeaker(id);
    else void session.switchDevice(kind, id);
  };
  const pictures = shown.tiles.length + 1;
  const columns = columnsFor(pictures, phone && large);
  return (
    <section
      ref={frame}
      class={['call-window call-group', large ? 'call-large' : '', over ? 'call-over' : ''].join(' ')}
      {...pane.attributes}
      aria-label={words.callIn(name)}
    >
      <div class="call-bar" onPointerDown={drag.onPointerDown}>
        <div class="grow">
          <p class="call-name clip">
            <bdi>{name}</bdi>
          </p>
          <Line shown={shown} />
        </div>
        <CallWindowButtons pane={pane} />
      </div>
      {!over && (
        <ul
          class="call-tiles"
          style={{ '--columns': String(columns) }}
          data-odd={columns === 2 && pictures % 2 === 1}
        >
          {shown.tiles.map(tile => (
            <OtherTile key={tile.place} tile={tile} speaker={speaker} />
          ))}
          <OwnTile shown={shown} />
        </ul>
      )}
      {shown.problem && !over && (
        <DeviceError
          problem={shown.problem}
          onClose={() => session.dismissProblem()}
          onAgain={() => again(session, shown)}
          onCheck={onCheck}
        />
      )}
      {options && !over && (
        <div class="call-options">
          <DeviceChoice kind="mic" onChoose={choose} />
          <DeviceChoice kind="camera" onChoose={choose} />
          {'setSinkId' in HTMLMediaElement.prototype && <DeviceChoice kind="speaker" onChoose={choose} />}
          <div class="call-deeds">
            <button type="button" class="button" onClick={onCheck}>
              {calls.checkSetup}
            </button>
          </div>
          {shown.hidden && <p class="call-hint">{calls.addressHidden}</p>}
        </div>
      )}
      {over ? (
        <div class="call-ended">
          <button type="button" class="button button-main" onClick={() => session.close()}>
            {calls.close}
          </button>
        </div>
      ) : (
        <CallControls
          session={session}
          shown={shown}
          options={options}
          onOptions={() => setOptions(!options)}
          leave={words.leaveCall}
        />
      )}
    </section>
  );
}

/** The status line: the number of participants and the duration, or why the user is not in the call. */
function Line({ shown }: { shown: GroupCallView }) {
  const words = useWords('groupCalls');
  const calls = useWords('calls');
  const now = useNow(1_000);
  const { stage, end, tiles, since } = shown;
  const most = useRoomCallStatus(shown.room)?.most ?? 0;
  const text = () => {
    if (stage === 'asking') return calls.asking;
    if (stage === 'joining') return calls.joining;
    if (stage === 'over') return end ? whyOver(end, most, words, calls) : '';
    if (tiles.length === 0) return words.alone;
    const here = words.hereCount(words.number(tiles.length + 1));
    return since === undefined ? here : `${here} · ${duration(Math.max(0, now - since))}`;
  };
  return (
    <p class="call-line" dir="auto" {...(stage === 'over' && { role: 'alert' })}>
      {text()}
    </p>
  );
}

type Words = ReturnType<typeof useWords<'groupCalls'>>;

export function whyOver(
  end: NonNullable<GroupCallView['end']>,
  most: number,
  words: Words,
  calls: Messages['calls'],
): string {
  if (end === 'full') return words.callIsFull(words.number(most));
  if (end in words.outs) return words.outs[end as keyof Words['outs']];
  return calls.ends[end as 'elsewhere' | 'noRelay' | 'inCall' | 'tooMany' | 'offline' | 'failed'];
}

/** Asks again for the device that the browser refused. */
function again(session: GroupCallSession, { problem, room, media, stage }: GroupCallView): void {
  session.dismissProblem();
  if (problem?.of === 'camera') void session.setCamera(true);
  else if (problem?.of === 'screen') void session.setScreen(true);
  else if (stage === 'asking') {
    session.close();
    void session.join(room, media);
  } else session.setMic(true);
}
