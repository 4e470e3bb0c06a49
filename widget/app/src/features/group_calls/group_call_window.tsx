// The call of a room: a picture of each, one's own, and all that one may do. It floats over the page.

import type { Messages } from 'virtual:messages';
import { useEffect, useState } from 'preact/hooks';
import { useNow, useSurroundings, useTopic } from '../../app_context.tsx';
import { useSheet } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { duration } from '../call_log/call_duration.ts';
import { Controls } from '../calls/call_controls.tsx';
import { DeviceChoice } from '../calls/call_options.tsx';
import { chooseDevice, chosenDevice, type DeviceKind } from '../calls/call_preferences.ts';
import { WindowButtons } from '../calls/call_window_buttons.tsx';
import { Trouble } from '../calls/device_error.tsx';
import { useWindow } from '../calls/use_call_window.ts';
import type { Grouping } from './group_call_session.ts';
import { columnsFor, type GroupShown } from './group_call_view.ts';
import css from './group_call_window.css?inline';
import { OtherTile, OwnTile } from './participant_tile.tsx';
import { useStanding } from './room_call_status.ts';

interface Props {
  grouping: Grouping;
  shown: GroupShown;
  onCheck(): void;
}

export function GroupWindow({ grouping, shown, onCheck }: Props) {
  useSheet(css);
  const { root } = useSurroundings();
  const words = useWords('groupCalls');
  const calls = useWords('calls');
  const [speaker, setSpeaker] = useState(chosenDevice('speaker'));
  const name = useTopic(`conversation:${shown.room}`, one => one.conversation(shown.room).with.name);
  const over = shown.stage === 'over';
  const pane = useWindow(over, () => grouping.close());
  const { frame, drag, phone, large, options, setOptions } = pane;
  useEffect(() => {
    if (root?.activeElement === null && document.activeElement === document.body) frame.current?.focus();
  }, []);

  const choose = (kind: DeviceKind, id: string) => {
    chooseDevice(kind, id);
    if (kind === 'speaker') setSpeaker(id);
    else void grouping.useDevice(kind, id);
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
        <WindowButtons pane={pane} />
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
        <Trouble
          problem={shown.problem}
          onClose={() => grouping.dismissProblem()}
          onAgain={() => again(grouping, shown)}
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
          <button type="button" class="button button-main" onClick={() => grouping.close()}>
            {calls.close}
          </button>
        </div>
      ) : (
        <Controls
          calling={grouping}
          shown={shown}
          options={options}
          onOptions={() => setOptions(!options)}
          leave={words.leaveCall}
        />
      )}
    </section>
  );
}

/** How it stands: who is here, and for how long; or why one is not in it. */
function Line({ shown }: { shown: GroupShown }) {
  const words = useWords('groupCalls');
  const calls = useWords('calls');
  const now = useNow(1_000);
  const { stage, end, tiles, since } = shown;
  const most = useStanding(shown.room)?.most ?? 0;
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
  end: NonNullable<GroupShown['end']>,
  most: number,
  words: Words,
  calls: Messages['calls'],
): string {
  if (end === 'full') return words.callIsFull(words.number(most));
  if (end in words.outs) return words.outs[end as keyof Words['outs']];
  return calls.ends[end as 'elsewhere' | 'noRelay' | 'inCall' | 'tooMany' | 'offline' | 'failed'];
}

/** Asks again for the device that the browser refused. */
function again(grouping: Grouping, { problem, room, media, stage }: GroupShown): void {
  grouping.dismissProblem();
  if (problem?.of === 'camera') void grouping.setCamera(true);
  else if (problem?.of === 'screen') void grouping.setScreen(true);
  else if (stage === 'asking') {
    grouping.close();
    void grouping.join(room, media);
  } else grouping.setMic(true);
}
