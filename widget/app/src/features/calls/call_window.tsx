// The window of a call: both pictures and the controls. It floats over the page.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { useWords } from '../../wording/late_words.ts';
import { CallControls } from './call_controls.tsx';
import { CallEnded } from './call_ended.tsx';
import { CallOptions } from './call_options.tsx';
import { chosenDevice } from './call_preferences.ts';
import type { CallSession } from './call_session.ts';
import { Stage } from './call_stage.tsx';
import type { CallView } from './call_view.ts';
import { CallWindowButtons } from './call_window_buttons.tsx';
import { DeviceError } from './device_error.tsx';
import { useWindow } from './use_call_window.ts';

interface Props {
  session: CallSession;
  shown: CallView;
  onCheck(): void;
}

export function CallWindow({ session, shown, onCheck }: Props) {
  const { root } = useAppContext();
  const words = useWords('calls');
  const [speaker, setSpeaker] = useState(chosenDevice('speaker'));
  const remote = useRef<HTMLVideoElement>(null);
  const person = useTopic(`person:${shown.user}`, one => one.person(shown.user));
  const { stage, theirs } = shown;
  const over = stage === 'over';
  const pane = useWindow(over, () => session.close());
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
        <CallWindowButtons pane={pane} />
      </Stage>
      {shown.problem && !over && (
        <DeviceError
          problem={shown.problem}
          onClose={() => session.dismissProblem()}
          onAgain={() => again(session, shown)}
          onCheck={onCheck}
        />
      )}
      {options && !over && (
        <CallOptions
          session={session}
          shown={shown}
          video={remote}
          onSpeaker={setSpeaker}
          onCheck={onCheck}
        />
      )}
      {over ? (
        <CallEnded session={session} shown={shown} onCheck={onCheck} />
      ) : (
        <CallControls
          session={session}
          shown={shown}
          options={options}
          onOptions={() => setOptions(!options)}
        />
      )}
    </section>
  );
}

/** Asks again for the device that the browser refused. */
function again(session: CallSession, { problem, user, media, stage }: CallView): void {
  session.dismissProblem();
  if (problem?.of === 'camera') void session.setCamera(true);
  else if (problem?.of === 'screen') void session.setScreen(true);
  else if (stage === 'asking') {
    session.close();
    session.do({ do: 'call', user, media });
  } else session.setMic(true);
}

/**
 * Moves the focus into the window if nothing else has it, for example after the ring card closes, and back
 * afterwards.
 */
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
  }, [frame, root]);
}
