// Says a voice message into the microphone: it is heard only after it was sent, and thrown away where it was not.

import type { Conversation } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icon/icon.tsx';
import { useSheet } from '../sheets.ts';
import { useSurroundings } from '../surroundings.tsx';
import { clock } from './clock.ts';
import { trayOf } from './tray.ts';
import css from './tray_view.css?inline';
import { useFileWords } from './words.ts';

const TYPES = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus'];
const LONGEST_MS = 10 * 60_000;

export { catalogues as words } from './words.ts';

interface Props {
  conversation: Conversation;
  replyTo: number | undefined;
  onDone(sent: boolean): void;
}

export function Recorder({ conversation, replyTo, onDone }: Props) {
  useSheet(css);
  const { client, announce, wording } = useSurroundings();
  const words = useFileWords();
  const recorder = useRef<MediaRecorder>(undefined);
  const send = useRef<HTMLButtonElement>(null);
  const [began, setBegan] = useState<number>();
  const [passed, setPassed] = useState(0);

  useEffect(() => {
    let wanted = true;
    navigator.mediaDevices.getUserMedia({ audio: true }).then(
      stream => {
        if (!wanted) return hangUp(stream);
        const mimeType = TYPES.find(one => MediaRecorder.isTypeSupported(one));
        recorder.current = new MediaRecorder(stream, {
          ...(mimeType && { mimeType }),
          audioBitsPerSecond: 32_000,
        });
        recorder.current.start();
        setBegan(Date.now());
        send.current?.focus();
      },
      () => {
        announce(words.noMicrophone);
        onDone(false);
      },
    );
    return () => {
      wanted = false;
      if (recorder.current) hangUp(recorder.current.stream);
    };
  }, []);
  useEffect(() => {
    if (began === undefined) return;
    const timer = setInterval(() => setPassed(Date.now() - began), 200);
    return () => clearInterval(timer);
  }, [began]);
  useEffect(() => {
    if (passed > LONGEST_MS) finish();
  }, [passed]);

  const finish = () => {
    const { current } = recorder;
    if (current === undefined || began === undefined) return onDone(false);
    const milliseconds = Date.now() - began;
    current.ondataavailable = ({ data }) => {
      const ending = data.type.includes('mp4') ? 'm4a' : data.type.includes('ogg') ? 'ogg' : 'webm';
      const tray = trayOf(client, conversation.key);
      tray.add([new File([data], `voice.${ending}`, { type: data.type })], milliseconds);
      tray.send('', replyTo);
    };
    current.onstop = () => {
      hangUp(current.stream);
      onDone(true);
    };
    current.stop();
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
        aria-label={wording.cancel}
        title={wording.cancel}
        onClick={() => onDone(false)}
      >
        <Icon name="trash" />
      </button>
      <span class="recorder-light" aria-hidden="true" />
      <span class="grow recorder-time" role="timer">
        {clock(passed / 1_000)}
      </span>
      <button
        ref={send}
        type="button"
        class="composer-send"
        aria-label={wording.send}
        title={wording.send}
        aria-disabled={began === undefined}
        onClick={finish}
      >
        <Icon name="send" />
      </button>
    </div>
  );
}

function hangUp(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
