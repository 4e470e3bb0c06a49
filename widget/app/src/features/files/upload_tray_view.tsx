// The tray in the composer: the files that the user is about to send, their progress and their errors.

import type { Conversation } from '@kith/client';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import type { ConversationSource } from '../chat/conversation_source.ts';
import type { AttachHandle } from './attach_files.tsx';
import { type Item, trayOf } from './upload_tray.ts';
import css from './upload_tray_view.css?inline';
import { ending, type FileWords, useFileWords, whyNot } from './words.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  handle: { current: AttachHandle | null };
  conversation: Conversation;
  source: ConversationSource;
  /** Files that were chosen, pasted or dropped. Each selection is a new list. */
  picked: readonly File[];
  onChange(count: number): void;
}

const taken = new WeakSet<readonly File[]>();

export function TrayView({ handle, conversation, source, picked, onChange }: Props) {
  useStyles(css);
  const { client, announce } = useAppContext();
  const words = useFileWords();
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const tray = trayOf(client, conversation.key, source);
  const most = client.me()?.limits.file_bytes ?? 0;
  const said = useRef('');

  useLayoutEffect(() => {
    handle.current = (text, replyTo) => {
      if (tray.items.length === 0) return false;
      tray.send(text, replyTo);
      return true;
    };
    return () => {
      handle.current = null;
    };
  }, [handle, tray]);
  useEffect(() => tray.listen(() => redraw(undefined)), [tray]);
  useEffect(() => {
    // The tray already has these files if the view was mounted again with the same list.
    if (taken.has(picked)) return;
    taken.add(picked);
    if (tray.add(picked) > 0) announce(words.tooMany);
  }, [picked, tray, announce, words]);
  const changed = useEffectEvent(onChange);
  const count = tray.items.length;
  useLayoutEffect(() => changed(count), [count]);
  useEffect(() => {
    const failed = tray.items.map(item => failure(item, words, most)).find(text => text !== undefined) ?? '';
    if (failed !== said.current && failed !== '') announce(failed);
    said.current = failed;
  });

  if (tray.items.length === 0) return null;
  return (
    <div class="attach">
      <ul class="attach-list" aria-label={words.toSend}>
        {tray.items.map(item => (
          <Row
            key={item.id}
            item={item}
            words={words}
            most={most}
            onRemove={() => tray.remove(item)}
            onRetry={() => tray.retry(item)}
          />
        ))}
      </ul>
      {tray.sent !== undefined && <p class="attach-note">{words.sendsSoon}</p>}
    </div>
  );
}

interface RowProps {
  item: Item;
  words: FileWords;
  most: number;
  onRemove(): void;
  onRetry(): void;
}

function Row({ item, words, most, onRemove, onRetry }: RowProps) {
  const { name, size, upload } = item;
  const wrong = failure(item, words, most);
  const state = upload?.state;
  const sent = state && 'sent' in state ? state.sent / Math.max(1, size) : state?.at === 'done' ? 1 : 0;
  const mayRetry = state?.at === 'failed' || state?.at === 'waiting';
  return (
    <li class={wrong === undefined ? 'attach-item' : 'attach-item is-failed'} data-state={state?.at}>
      <Preview item={item} />
      <span class="grow attach-what">
        <span class="attach-name clip">
          <bdi>{name}</bdi>
        </span>
        <span class="attach-state clip">{wrong ?? progressText(item, words, sent)}</span>
        {wrong === undefined && sent < 1 && (
          <progress class="attach-progress" max={1} value={sent} aria-label={name} />
        )}
      </span>
      {mayRetry && (
        <button type="button" class="icon-button" aria-label={words.retryFile(name)} onClick={onRetry}>
          <Icon name="retry" />
        </button>
      )}
      <button type="button" class="icon-button" aria-label={words.remove(name)} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </li>
  );
}

function Preview({ item }: { item: Item }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { preview } = item;
  useLayoutEffect(() => {
    if (canvas.current === null || preview === undefined) return;
    canvas.current.width = preview.width;
    canvas.current.height = preview.height;
    canvas.current.getContext('2d')?.drawImage(preview, 0, 0);
  }, [preview]);
  if (preview === undefined)
    return (
      <span class="attach-preview attach-kind" aria-hidden="true">
        {ending(item.name)}
      </span>
    );
  return (
    <span aria-hidden="true">
      <canvas ref={canvas} class="attach-preview" />
    </span>
  );
}

function failure({ failed, upload }: Item, words: FileWords, most: number): string | undefined {
  const code = failed ?? (upload?.state.at === 'failed' ? upload.state.code : undefined);
  return code === undefined ? undefined : whyNot(code, words, most);
}

function progressText({ size, upload }: Item, words: FileWords, sent: number): string {
  switch (upload?.state.at) {
    case undefined:
      return words.preparing;
    case 'waiting':
      return words.waiting;
    case 'done':
      return `${words.size(size)} · ${words.ready}`;
    default:
      return `${words.size(size)} · ${sent < 1 ? words.uploading(words.percent(sent)) : words.preparing}`;
  }
}
