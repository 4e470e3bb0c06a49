// A stream that is seen, and one that is heard.

import { useEffect, useRef } from 'preact/hooks';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';

interface SightProps {
  stream: MediaStream | undefined;
  label: string;
  class: string;
  element?: { current: HTMLVideoElement | null };
}

/** A picture that moves, and never sounds. */
export function Sight({ stream, label, class: name, element }: SightProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const one = video.current;
    if (one === null) return;
    if (element) element.current = one;
    one.muted = true;
    one.srcObject = stream ?? null;
    // Without a picture yet it waits for one, and another stream ends the waiting.
    if (stream) one.play().catch(() => undefined);
  }, [stream, element]);
  // biome-ignore lint/a11y/useMediaCaption: nobody writes down what is said in a call.
  return <video ref={video} class={name} aria-label={label} playsInline autoplay />;
}

interface VoiceProps {
  stream: MediaStream | undefined;
  /** Id of a loudspeaker; empty: as the system chooses. */
  speaker: string | undefined;
  element: { current: HTMLAudioElement | null };
  /** The browser waits for a touch before anything sounds. */
  onSilenced(silenced: boolean): void;
}

export function Voice({ stream, speaker, element, onSilenced }: VoiceProps) {
  const silenced = useEffectEvent(onSilenced);
  useEffect(() => {
    const one = element.current;
    if (one === null) return;
    one.srcObject = stream ?? null;
    if (stream === undefined) return;
    one.play().then(
      () => silenced(false),
      (error: { name?: string }) => error.name === 'NotAllowedError' && silenced(true),
    );
  }, [stream, element]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another stream begins at the loudspeaker of the system
  useEffect(() => {
    const one = element.current as (HTMLAudioElement & { setSinkId?(id: string): Promise<void> }) | null;
    if (speaker !== undefined) one?.setSinkId?.(speaker).catch(() => undefined);
  }, [speaker, stream, element]);
  // biome-ignore lint/a11y/useMediaCaption: nobody writes down what is said in a call.
  return <audio ref={element} />;
}
