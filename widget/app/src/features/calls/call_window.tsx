// The call itself: the other one's picture, one's own, and all that one may do. It floats over the page.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useSurroundings, useTopic } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';
import { Controls } from './call_controls.tsx';
import { Ended } from './call_ended.tsx';
import { Options } from './call_options.tsx';
import { chosenDevice } from './call_preferences.ts';
import type { Calling } from './call_session.ts';
import { Stage } from './call_stage.tsx';
import type { Shown } from './call_view.ts';
import { WindowButtons } from './call_window_buttons.tsx';
import { Trouble } from './device_error.tsx';
import { useWindow } from './use_call_window.ts';

interface Props {
  calling: Calling;
  shown: Shown;
  onCheck(): void;
}

export function CallWindow({ calling, shown, onCheck }: Props) {
  const { root } = useSurroundings();
  const words = useWords('calls');
  const [speaker, setSpeaker] = useState(chosenDevice('speaker'));
  const remote = useRef<HTMLVideoElement>(null);
  const person = useTopic(`person:${shown.user}`, one => one.person(shown.user));
  const { stage, theirs } = shown;
  const over = stage === 'over';
  const pane = useWindow(over, () => calling.close());
  const { frame, drag, large, options, setOptions } = pane;
  const picture =
    shown.connected && !shown.holding && (theirs === undefined || theirs.camera || theirs.screen);
  useFocusHome(frame, root);

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
      {...pane.attributes}
      aria-label={words.callWith(person.name)}
    >
      <Stage
        shown={shown}
        person={person}
        picture={picture}
        speaker={speaker}
        remote={remote}
        onPointerDown={drag.onPointerDown}
      >
        <WindowButtons pane={pane} />
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

/** Asks again for the device that the browser refused. */
function again(calling: Calling, { problem, user, media, stage }: Shown): void {
  calling.dismissProblem();
  if (problem?.of === 'camera') void calling.setCamera(true);
  else if (problem?.of === 'screen') void calling.setScreen(true);
  else if (stage === 'asking') {
    calling.close();
    calling.do({ do: 'call', user, media });
  } else calling.setMic(true);
}

/** Moves the focus into the window after answering by keyboard, and back afterwards. */
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
