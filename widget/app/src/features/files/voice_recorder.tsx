// Records a voice message: shows the level during the recording, then a preview to send or discard.

import type { Conversation } from '@kith/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import type { ConversationSource } from '../chat/conversation_source.ts';
import { LevelMeter } from './level_meter.ts';
import { peaksOf } from './peaks.ts';
import { clock } from './sound_duration.ts';
import { trayOf } from './upload_tray.ts';
import css from './upload_tray_view.css?inline';
import { VoicePlayer } from './voice_player.tsx';
import { Waveform } from './waveform.tsx';
import { useFileWords } from './words.ts';

const TYPES = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus'];
const LONGEST_MS = 10 * 60_000;
/** Number of levels shown during the recording: the last six seconds. */
const SHOWN_LEVELS = 60;

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: Conversation;
  source: ConversationSource;
  replyTo: number | undefined;
  onDone(sent: boolean): void;
}

interface Recorded {
  data: Blob;
  milliseconds: number;
  /** Undefined if the browser could not measure the level. */
  peaks: string | undefined;
}

export function VoiceRecorder({ conversation, source, replyTo, onDone }: Props) {
  useStyles(css);
  const { client, announce, wording } = useAppContext();
  const words = useFileWords();
  const recorder = useRef<MediaRecorder>(undefined);
  const meter = useRef<LevelMeter>(undefined);
  const send = useRef<HTMLButtonElement>(null);
  const [began, setBegan] = useState<number>();
  const [passed, setPassed] = useState(0);
  const [levels, setLevels] = useState('');
  const [recorded, setRecorded] = useState<Recorded>();

  const release = useCallback(() => {
    meter.current?.close();
    for (const track of recorder.current?.stream.getTracks() ?? []) track.stop();
  }, []);
  const refused = useEffectEvent(() => {
    announce(words.noMicrophone);
    onDone(false);
  });
  useEffect(() => {
    let wanted = true;
    navigator.mediaDevices.getUserMedia({ audio: true }).then(stream => {
      if (!wanted) {
        for (const track of stream.getTracks()) track.stop();
        return;
      }
      const mimeType = TYPES.find(one => MediaRecorder.isTypeSupported(one));
      recorder.current = new MediaRecorder(stream, {
        ...(mimeType && { mimeType }),
        audioBitsPerSecond: 32_000,
      });
      recorder.current.start();
      const measured = () => setLevels(peaksOf(meter.current?.levels.slice(-SHOWN_LEVELS) ?? []));
      meter.current = new LevelMeter(stream, measured);
      setBegan(Date.now());
      send.current?.focus();
    }, refused);
    return () => {
      wanted = false;
      release();
    };
  }, [release]);
  useEffect(() => {
    if (began === undefined || recorded) return;
    const timer = setInterval(() => setPassed(Date.now() - began), 200);
    return () => clearInterval(timer);
  }, [began, recorded]);
  /** Stops the recording and returns it. */
  const stop = (): Promise<Recorded | undefined> => {
    const { current } = recorder;
    if (recorded || current === undefined || began === undefined) return Promise.resolve(recorded);
    if (current.state === 'inactive') return Promise.resolve(undefined);
    const milliseconds = Date.now() - began;
    return new Promise(resolve => {
      current.ondataavailable = ({ data }) => {
        const peaks = meter.current?.levels.length ? peaksOf(meter.current.levels) : undefined;
        const all = { data, milliseconds, peaks };
        setRecorded(all);
        resolve(all);
        release();
      };
      current.stop();
    });
  };
  const stopLate = useEffectEvent(() => void stop());
  useEffect(() => {
    if (passed > LONGEST_MS) stopLate();
  }, [passed]);
  const finish = async () => {
    const all = await stop();
    if (all === undefined) return;
    const { data, milliseconds, peaks } = all;
    const ending = data.type.includes('mp4') ? 'm4a' : data.type.includes('ogg') ? 'ogg' : 'webm';
    const tray = trayOf(client, conversation.key, source);
    const file = new File([data], `voice.${ending}`, { type: data.type });
    tray.add([file], { milliseconds, ...(peaks && { peaks }) });
    tray.send('', replyTo);
    onDone(true);
  };

  return (
    <div
      class="recorder"
      role="group"
      aria-label={words.voice}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onDone(false);
      }}
    >
      <button
        type="button"
        class="icon-button"
        aria-label={recorded ? wording.discard : wording.cancel}
        title={recorded ? wording.discard : wording.cancel}
        onClick={() => onDone(false)}
      >
        <Icon name="trash" />
      </button>
      {recorded ? (
        <span class="grow">
          <VoicePlayer
            fetch={() => Promise.resolve(recorded.data)}
            duration={recorded.milliseconds / 1_000}
            peaks={recorded.peaks}
          />
        </span>
      ) : (
        <>
          <span class="recorder-light" aria-hidden="true" />
          <span class="grow recorder-level">
            <Waveform peaks={levels} share={1} />
          </span>
          <span class="recorder-time" role="timer">
            {clock(passed / 1_000)}
          </span>
          <button
            type="button"
            class="icon-button"
            aria-label={words.stopRecording}
            title={words.stopRecording}
            aria-disabled={began === undefined}
            onClick={() => {
              void stop();
              send.current?.focus();
            }}
          >
            <Icon name="stop" />
          </button>
        </>
      )}
      <button
        ref={send}
        type="button"
        class="composer-send"
        aria-label={wording.send}
        title={wording.send}
        aria-disabled={began === undefined}
        onClick={() => void finish()}
      >
        <Icon name="send" />
      </button>
    </div>
  );
}
