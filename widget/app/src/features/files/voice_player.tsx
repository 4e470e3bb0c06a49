// Plays a voice message with Web Audio, which the page's policy cannot forbid. Shows its waveform with a slider.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { peaksOf } from './peaks.ts';
import { clock } from './sound_duration.ts';
import css from './voice_player.css?inline';
import { Waveform } from './waveform.tsx';
import { useFileWords } from './words.ts';

let context: AudioContext | undefined;
/** Stops the current player: only one voice message plays at a time. */
let silence: (() => void) | undefined;

const TICK_MS = 100;

interface Props {
  /** The recording, fetched when it is first played. */
  fetch(): Promise<Blob>;
  /** Seconds, as far as they are known. */
  duration: number;
  /** Undefined: measured when the recording is first played. */
  peaks: string | undefined;
}

export function VoicePlayer({ fetch, duration, peaks }: Props) {
  useStyles(css);
  const { announce, wording } = useAppContext();
  const words = useFileWords();
  const sound = useRef<AudioBuffer>(undefined);
  const source = useRef<AudioBufferSourceNode>(undefined);
  const [playing, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  const [length, setLength] = useState(duration);
  const [measured, setMeasured] = useState<string>();

  const stop = useCallback(() => {
    source.current?.stop();
    source.current = undefined;
    setPlaying(false);
  }, []);
  useEffect(() => stop, [stop]);

  const play = async (from: number) => {
    silence?.();
    silence = stop;
    context ??= new AudioContext();
    const speaker = context;
    setPlaying(true);
    try {
      await speaker.resume();
      sound.current ??= await speaker.decodeAudioData(await (await fetch()).arrayBuffer());
    } catch {
      announce(wording.somethingFailed);
      return stop();
    }
    if (peaks === undefined) setMeasured(peaksOf(sound.current.getChannelData(0)));
    const voice = speaker.createBufferSource();
    voice.buffer = sound.current;
    voice.connect(speaker.destination);
    const start = from >= sound.current.duration - 0.05 ? 0 : from;
    const began = speaker.currentTime - start;
    setLength(sound.current.duration);
    source.current = voice;
    voice.start(0, start);
    const timer = setInterval(() => {
      if (source.current === voice)
        setAt(Math.min(sound.current?.duration ?? 0, speaker.currentTime - began));
      else clearInterval(timer);
    }, TICK_MS);
    voice.onended = () => {
      if (source.current !== voice) return;
      source.current = undefined;
      setAt(0);
      setPlaying(false);
    };
  };

  const bars = peaks ?? measured;
  const share = at / Math.max(length, 0.1);
  return (
    // Time runs from left to right in all languages, as on a player.
    <div class="voice" dir="ltr">
      <button
        type="button"
        class="voice-play"
        aria-label={playing ? words.pause : words.play}
        onClick={() => (playing ? stop() : void play(at))}
      >
        <Icon name={playing ? 'pause' : 'play'} />
      </button>
      <span class={bars ? 'voice-track has-waveform' : 'voice-track'}>
        {bars && <Waveform peaks={bars} share={share} />}
        <input
          type="range"
          class="voice-place"
          aria-label={words.position}
          style={{ '--at': `${share * 100}%` }}
          aria-valuetext={clock(at)}
          min={0}
          max={Math.max(length, 0.1)}
          step={0.1}
          value={at}
          onInput={event => {
            const to = Number(event.currentTarget.value);
            setAt(to);
            if (!playing) return;
            stop();
            void play(to);
          }}
        />
      </span>
      <span class="voice-time">{clock(playing || at > 0 ? at : length)}</span>
    </div>
  );
}
