// A voice message: played by Web Audio, which needs nothing of the page's policy.

import type { SentFile } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icon/icon.tsx';
import { useSurroundings } from '../surroundings.tsx';
import { clock } from './clock.ts';
import { fetchFile } from './link.ts';
import { useFileWords } from './words.ts';

let context: AudioContext | undefined;
/** One is heard at a time. */
let silence: (() => void) | undefined;

const TICK_MS = 100;

export function Voice({ file }: { file: SentFile }) {
  const { client, announce, wording } = useSurroundings();
  const words = useFileWords();
  const sound = useRef<AudioBuffer>(undefined);
  const source = useRef<AudioBufferSourceNode>(undefined);
  const [playing, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  const [length, setLength] = useState((file.duration ?? 0) / 1_000);

  const stop = () => {
    source.current?.stop();
    source.current = undefined;
    setPlaying(false);
  };
  useEffect(() => stop, []);

  const play = async (from: number) => {
    silence?.();
    silence = stop;
    context ??= new AudioContext();
    const speaker = context;
    setPlaying(true);
    try {
      await speaker.resume();
      sound.current ??= await speaker.decodeAudioData(
        await (await fetchFile(client, file, false)).arrayBuffer(),
      );
    } catch {
      announce(wording.somethingFailed);
      return stop();
    }
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
      <input
        type="range"
        class="voice-place"
        aria-label={words.position}
        style={{ '--at': `${(at / Math.max(length, 0.1)) * 100}%` }}
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
      <span class="voice-time">{clock(playing || at > 0 ? at : length)}</span>
    </div>
  );
}
