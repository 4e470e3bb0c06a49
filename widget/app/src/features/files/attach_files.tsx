// Adds files to a message: with a button, from the clipboard, by a drop on the widget, or from the microphone.

import type { Conversation } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon/icon.tsx';
import '../../ui/icon/lazy_shapes.ts';
import { useAppContext, useSource, useTopic } from '../../app_context.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import type { MenuItem } from '../../ui/menu/menu.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import type { ConversationSource } from '../chat/conversation_source.ts';
import { askPoll } from '../message_extras/extra_actions.ts';
import css from './attach_files.css?inline';
import { hasTray } from './upload_trays.ts';
import { useFileWords } from './words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

/** Sends the text with the files. Returns false if there are no files. */
export type AttachHandle = (text: string, replyTo: number | undefined) => boolean;

interface Props {
  handle: { current: AttachHandle | null };
  field: { current: HTMLTextAreaElement | null };
  conversation: Conversation;
  source: ConversationSource;
  replyTo: number | undefined;
  onChange(count: number): void;
  onSent(): void;
}

const trayPart = lazy(() => import('./upload_tray_view.tsx'), 'TrayView');
const recorderPart = lazy(() => import('./voice_recorder.tsx'), 'VoiceRecorder');

export function AttachFiles({ handle, field, conversation, source, replyTo, onChange, onSent }: Props) {
  useStyles(css);
  const context = useAppContext();
  const { client, openMenu } = context;
  const fileWords = useFileWords();
  const words = { ...fileWords, ...useWords('polls') };
  const takesFiles = useTopic('me', one => one.me())?.limits.file_bytes !== undefined;
  const { key } = conversation;
  const isEmpty = useSource(source, `draft:${key}`, one => one.draft(key)) === '';
  const input = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState<readonly File[] | undefined>(
    hasTray(client, key, source) ? [] : undefined,
  );
  const [count, setCount] = useState(0);
  const [recording, setRecording] = useState(false);

  useEffect(() => {
    const { current } = field;
    const place = current?.getRootNode();
    const form = current?.form;
    const stop = new AbortController();
    const { signal } = stop;
    const take = (event: Event, data: DataTransfer | null) => {
      if (!takesFiles || !data?.types.includes('Files')) return;
      event.preventDefault();
      if (data.files.length > 0) setPicked([...data.files]);
    };
    current?.addEventListener('paste', event => take(event, event.clipboardData), { signal });
    const dragged = (event: Event) => {
      const { dataTransfer } = event as DragEvent;
      const brings = dataTransfer?.types.includes('Files') ?? false;
      form?.classList.toggle('is-dropping', brings && event.type === 'dragover');
      if (event.type === 'drop') take(event, dataTransfer);
      else if (brings) event.preventDefault();
    };
    for (const type of ['dragover', 'dragleave', 'drop']) place?.addEventListener(type, dragged, { signal });
    return () => stop.abort();
  }, [field, takesFiles]);

  const items: MenuItem[] = [];
  if (takesFiles) items.push({ icon: 'file', text: words.attachFile, run: () => input.current?.click() });
  // The server accepts no polls in threads.
  if (source.thread === undefined)
    items.push({ icon: 'poll', text: words.pollNew, run: () => askPoll(key, context) });
  return (
    <>
      {items.length > 0 && (
        <button
          type="button"
          class="icon-button attach-add"
          aria-label={words.attachMenu}
          title={words.attachMenu}
          aria-haspopup="menu"
          aria-expanded="false"
          onClick={event => openMenu({ anchor: event.currentTarget, label: words.attachMenu, items })}
        >
          <Icon name="plus" />
        </button>
      )}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          if (currentTarget.files?.length) setPicked([...currentTarget.files]);
          currentTarget.value = '';
        }}
      />
      {takesFiles && isEmpty && count === 0 && 'mediaDevices' in navigator && (
        <button
          type="button"
          class="icon-button attach-mic"
          aria-label={words.record}
          title={words.record}
          onClick={() => setRecording(true)}
        >
          <Icon name="mic" />
        </button>
      )}
      {picked && (
        <Lazy
          part={trayPart}
          props={{
            handle,
            conversation,
            source,
            picked,
            onChange: (now: number) => {
              setCount(now);
              onChange(now);
            },
          }}
          onFailed={() => setPicked(undefined)}
        />
      )}
      {recording && (
        <Lazy
          part={recorderPart}
          props={{
            conversation,
            source,
            replyTo,
            onDone: (sent: boolean) => {
              setRecording(false);
              // The tray shows the voice message until it is uploaded.
              setPicked(before => before ?? []);
              if (sent) onSent();
              field.current?.focus();
            },
          }}
          onFailed={() => setRecording(false)}
        />
      )}
    </>
  );
}
