// The video element and the audio element of a call.

import { useEffect, useRef } from 'preact/hooks';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';

interface SightProps {
  stream: MediaStream | undefined;
  label: string;
  class: string;
  element?: { current: HTMLVideoElement | null };
}

/** A video without sound. */
export function Sight({ stream, label, class: name, element }: SightProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const one = video.current;
    if (one === null) return;
    if (element) element.current = one;
    one.muted = true;
    one.srcObject = stream ?? null;
    // `play()` waits for the first picture. It rejects if another stream replaces this one meanwhile.
    if (stream) one.play().catch(() => undefined);
  }, [stream, element]);
  // biome-ignore lint/a11y/useMediaCaption: a call has no captions.
  return <video ref={video} class={name} aria-label={label} playsInline autoplay />;
}

interface VoiceProps {
  stream: MediaStream | undefined;
  /** Device id of a loudspeaker. An empty id means the default of the system. */
  speaker: string | undefined;
  element: { current: HTMLAudioElement | null };
  /** True if the browser requires a user gesture before it plays sound. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new stream starts at the default loudspeaker
  useEffect(() => {
    const one = element.current as (HTMLAudioElement & { setSinkId?(id: string): Promise<void> }) | null;
    if (speaker !== undefined) one?.setSinkId?.(speaker).catch(() => undefined);
  }, [speaker, stream, element]);
  // biome-ignore lint/a11y/useMediaCaption: a call has no captions.
  return <audio ref={element} />;
}
