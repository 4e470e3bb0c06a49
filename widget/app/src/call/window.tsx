// The call itself: the other one's picture, one's own, and all that one may do. It floats over the page.

import { useEffect, useRef, useState } from 'preact/hooks';
import { PHONE } from '../shell/open_shell.ts';
import { useMedia } from '../shell/use_media.ts';
import { useSurroundings, useTopic } from '../surroundings.tsx';
import { useWords } from '../wording/late_words.ts';
import type { Calling } from './calling.ts';
import { chosenDevice } from './choices.ts';
import { Controls } from './controls.tsx';
import { Ended } from './ended.tsx';
import { Options } from './options.tsx';
import { keepInside, useFocusKey } from './ring_card.tsx';
import { RoundButton } from './round_button.tsx';
import type { Shown } from './shown.ts';
import { Stage } from './stage.tsx';
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
  const [speaker, setSpeaker] = useState(chosenDevice('speaker'));
  const frame = useRef<HTMLElement>(null);
  const remote = useRef<HTMLVideoElement>(null);
  const drag = useDrag(frame, large);
  const person = useTopic(`person:${shown.user}`, one => one.person(shown.user));
  const { stage, theirs } = shown;
  const over = stage === 'over';
  const picture =
    shown.connected && !shown.holding && (theirs === undefined || theirs.camera || theirs.screen);
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
      <Stage
        shown={shown}
        person={person}
        picture={picture}
        speaker={speaker}
        remote={remote}
        onPointerDown={drag.onPointerDown}
      >
        {!large && !phone && !over && (
          <RoundButton
            icon="move"
            label={words.moveCall}
            onKeyDown={drag.onKeyDown}
            onClick={() => undefined}
          />
        )}
        {!over && (
          <RoundButton
            icon={large ? 'collapse' : 'expand'}
            label={large ? words.smaller : words.larger}
            onClick={() => setLarge(!large)}
          />
        )}
      </Stage>
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
