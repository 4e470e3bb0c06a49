// The call itself: the other one's picture, one's own, and all that one may do. It floats over the page.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Avatar } from '../avatar/avatar.tsx';
import { Icon, type IconName } from '../icon/icon.tsx';
import { PHONE } from '../shell/open_shell.ts';
import { useMedia } from '../shell/use_media.ts';
import { useNow, useSurroundings, useTopic } from '../surroundings.tsx';
import { useWords } from '../wording/late_words.ts';
import type { Calling } from './calling.ts';
import { chosenDevice } from './choices.ts';
import { Ended } from './ended.tsx';
import { Options } from './options.tsx';
import { keepInside, useFocusKey } from './ring_card.tsx';
import type { Shown } from './shown.ts';
import { Sight, Voice } from './sight.tsx';
import { quality, trouble } from './status_line.ts';
import { Trouble } from './trouble.tsx';
import { useDrag } from './use_drag.ts';
import { callWords } from './words.ts';

interface Props {
  calling: Calling;
  shown: Shown;
  onCheck(): void;
}

export function CallWindow({ calling, shown, onCheck }: Props) {
  const { root } = useSurroundings();
  const words = useWords(callWords);
  const phone = useMedia(PHONE);
  const [large, setLarge] = useState(phone);
  const [options, setOptions] = useState(false);
  const [silenced, setSilenced] = useState(false);
  const [speaker, setSpeaker] = useState(chosenDevice('speaker'));
  const frame = useRef<HTMLElement>(null);
  const remote = useRef<HTMLVideoElement>(null);
  const voice = useRef<HTMLAudioElement>(null);
  const drag = useDrag(frame, large);
  const now = useNow(1_000);
  const person = useTopic(`person:${shown.user}`, one => one.person(shown.user));
  const { stage, theirs } = shown;
  const over = stage === 'over';
  const picture = shown.connected && (theirs === undefined || theirs.camera || theirs.screen);
  const own = useMemo(() => (shown.own ? new MediaStream([shown.own]) : undefined), [shown.own]);
  const wrong = trouble(shown, person.name, words);
  useFocusKey(frame, root);
  useFocusHome(frame, root);
  useEffect(() => {
    if (over) setOptions(false);
  }, [over]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Tab' && large && frame.current) return keepInside(event, frame.current, root);
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    if (options) setOptions(false);
    else if (over) calling.close();
    else if (large) setLarge(false);
  };
  const classes = [
    'call-window',
    large ? 'call-large' : '',
    over ? 'call-over' : '',
    picture ? '' : 'call-dark',
  ];
  return (
    <section
      ref={frame}
      class={classes.join(' ')}
      part="call-window"
      role={large ? 'dialog' : 'region'}
      {...(large && { 'aria-modal': true })}
      aria-label={words.callWith(person.name)}
      tabIndex={-1}
      style={
        drag.spot && { left: `${drag.spot.left}px`, top: `${drag.spot.top}px`, right: 'auto', bottom: 'auto' }
      }
      onKeyDown={onKeyDown}
    >
      <div class="call-stage" onPointerDown={drag.onPointerDown}>
        <Sight
          stream={shown.picture}
          label={theirs?.screen ? words.theirScreen(person.name) : words.theirVideo(person.name)}
          class={theirs?.screen ? 'call-remote call-whole' : 'call-remote'}
          element={remote}
        />
        <Voice stream={shown.voice} speaker={speaker} element={voice} onSilenced={setSilenced} />
        {!picture && (
          <div class="call-face" aria-hidden="true">
            <Avatar person={person} size="large" />
          </div>
        )}
        {own && !over && <Sight stream={own} label={words.ownVideo} class={ownClass(shown)} />}
        <div class="call-head">
          <div class="grow">
            <p class="call-name clip">
              <bdi>{person.name}</bdi>
            </p>
            <p class="call-line clip" dir="auto">
              {wrong ?? quality(shown, now, words)}
            </p>
          </div>
          {!large && !phone && !over && (
            <Button icon="move" label={words.moveCall} onKeyDown={drag.onKeyDown} onClick={() => undefined} />
          )}
          {!over && (
            <Button
              icon={large ? 'collapse' : 'expand'}
              label={large ? words.smaller : words.larger}
              onClick={() => setLarge(!large)}
            />
          )}
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
      {shown.problem && !over && (
        <Trouble
          problem={shown.problem}
          onClose={() => calling.dismissProblem()}
          onAgain={() => again(calling, shown)}
          onCheck={onCheck}
        />
      )}
      {options && !over && (
        <Options calling={calling} shown={shown} video={remote} onSpeaker={setSpeaker} onCheck={onCheck} />
      )}
      {over ? (
        <Ended calling={calling} shown={shown} onCheck={onCheck} />
      ) : (
        <Controls calling={calling} shown={shown} options={options} onOptions={() => setOptions(!options)} />
      )}
    </section>
  );
}

function ownClass({ screen }: Shown): string {
  return screen ? 'call-own' : 'call-own call-mirrored';
}

/** What the browser has refused is asked for again. */
function again(calling: Calling, { problem, user, media, stage }: Shown): void {
  calling.dismissProblem();
  if (problem?.of === 'camera') void calling.setCamera(true);
  else if (problem?.of === 'screen') void calling.setScreen(true);
  else if (stage === 'asking') {
    calling.close();
    calling.do({ do: 'call', user, media });
  } else calling.setMic(true);
}

interface ControlsProps {
  calling: Calling;
  shown: Shown;
  options: boolean;
  onOptions(): void;
}

function Controls({ calling, shown, options, onOptions }: ControlsProps) {
  const words = useWords(callWords);
  const { mic, camera, screen } = shown;
  const canShare = typeof navigator.mediaDevices?.getDisplayMedia === 'function';
  return (
    <div class="call-controls">
      <Button
        icon={mic ? 'voice' : 'voiceOff'}
        label={mic ? words.micOff : words.micOn}
        off={!mic}
        onClick={() => calling.setMic(!mic)}
      />
      <Button
        icon={camera ? 'camera' : 'cameraOff'}
        label={camera ? words.cameraOff : words.cameraOn}
        off={!camera}
        onClick={() => void calling.setCamera(!camera)}
      />
      {canShare && (
        <Button
          icon="screen"
          label={screen ? words.screenOff : words.screenOn}
          class="call-rare"
          on={screen}
          onClick={() => void calling.setScreen(!screen)}
        />
      )}
      <Button
        icon="dials"
        label={words.callOptions}
        class="call-rare"
        expanded={options}
        onClick={onOptions}
      />
      <Button icon="hangUp" label={words.hangUp} class="call-no" onClick={() => calling.hangUp()} />
    </div>
  );
}

interface ButtonProps {
  icon: IconName;
  label: string;
  class?: string;
  off?: boolean;
  on?: boolean;
  expanded?: boolean;
  onClick(): void;
  onKeyDown?(event: KeyboardEvent): void;
}

function Button({ icon, label, class: more = '', off, on, expanded, onClick, onKeyDown }: ButtonProps) {
  const state = off ? 'is-off' : on ? 'is-on' : '';
  return (
    <button
      type="button"
      class={`call-round ${state} ${more}`}
      aria-label={label}
      title={label}
      {...(expanded !== undefined && { 'aria-expanded': expanded })}
      onClick={onClick}
      {...(onKeyDown && { onKeyDown })}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Whoever has answered by keyboard goes on in the window, and afterwards where they were. */
function useFocusHome(frame: { current: HTMLElement | null }, root: ShadowRoot | undefined): void {
  useEffect(() => {
    const element = frame.current;
    if (root && root.activeElement === null && document.activeElement === document.body) element?.focus();
    return () => {
      if (!element?.contains(root?.activeElement ?? null)) return;
      const home =
        root?.querySelector<HTMLElement>('.composer-field') ?? root?.querySelector<HTMLElement>('.launcher');
      home?.focus({ preventScroll: true });
    };
  }, []);
}
