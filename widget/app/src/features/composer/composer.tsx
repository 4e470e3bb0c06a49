// The composer: the text field with attachments, emoji and the send button.

import type { Conversation, Message, Sticker } from '@kith/client';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAppContext, useFace, useSource, useTopic } from '../../app_context.tsx';
import { PHONE } from '../../shell/open_shell.ts';
import { Icon } from '../../ui/icon/icon.tsx';
import { Lazy, lazy } from '../../ui/lazy/lazy.tsx';
import { type AutocompleteHandle, MAY_COMPLETE, SUGGESTIONS_ID } from '../autocomplete/handle.ts';
import type { ConversationSource } from '../chat/conversation_source.ts';
import type { Writing } from '../chat/use_writing.ts';
import type { AttachHandle } from '../files/attach_files.tsx';
import { askToDelete } from '../message/confirm_delete.ts';
import { bytesOver } from './body_bytes.ts';

interface Props {
  conversation: Conversation;
  source: ConversationSource;
  /** Label of the field. By default it contains the name of the chat. */
  label?: string | undefined;
  writing: Pick<Writing, 'field' | 'replyTo' | 'editing' | 'cancel' | 'editLast' | 'sent'>;
}

const MOST_HEIGHT = 132;
const attachPart = lazy(() => import('../files/attach_files.tsx'), 'AttachFiles');
export const replyOrEditPart = lazy(() => import('./reply_or_edit_bar.tsx'), 'ReplyOrEditBar');
const suggestions = lazy(() => import('../autocomplete/autocomplete.tsx'), 'Autocomplete');
/** The counter is visible while fewer than this many bytes are left. */
const NEAR_LIMIT = 200;

export function Composer({ conversation, source, label, writing }: Props) {
  const { field, replyTo, editing, cancel, editLast, sent } = writing;
  const context = useAppContext();
  const { client, wording: words, pickEmoji, takesFocus } = context;
  const key = conversation.key;
  const me = useTopic('me', one => one.me());
  const face = useFace(conversation);
  const draft = useSource(source, `draft:${key}`, one => one.draft(key));
  const placeholder = label ?? words.writeTo(face.name);
  const [text, setText] = useState(editing?.body ?? draft);
  const suggest = useRef<AutocompleteHandle | null>(null);
  /** Autocompletion loads with the first text that may contain something to complete. */
  const completes = useRef(false);
  completes.current ||= MAY_COMPLETE.test(text);
  /** The id of the chosen suggestion, while suggestions are shown. */
  const [listed, setListed] = useState<string>();
  const concerned = editing ?? replyTo;
  const attach = useRef<AttachHandle | null>(null);
  const [files, setFiles] = useState(0);
  const over = bytesOver(text.trimEnd(), me?.limits.body_bytes);
  const sendable = (text.trim() !== '' || files > 0) && !(over !== undefined && over > 0);

  // Another tab may have changed or sent the draft. The layout effect runs before paint, like the focus.
  // Otherwise letters that the user types immediately would be lost.
  // biome-ignore lint/correctness/useExhaustiveDependencies: typing must not restore the draft
  useLayoutEffect(() => {
    if (editing) return;
    if (document.activeElement === null || draft === '' || text === '' || !isFocused(field.current))
      setText(draft);
  }, [draft, field, editing]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => grow(field.current), [text, field]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a resize must not move the focus
  useLayoutEffect(() => {
    // On a phone the keyboard would cover the messages. A focus that is already on a message stays there:
    // an Enter for the message would otherwise send the draft.
    if (editing || (takesFocus() && !matchMedia(PHONE).matches && !isAtMessage(field.current)))
      field.current?.focus({ preventScroll: true });
    // When editing starts, the cursor is at the end.
    const end = field.current?.value.length ?? 0;
    if (editing) field.current?.setSelectionRange(end, end);
  }, [field, editing]);
  useEffect(() => () => source.setTyping(key, false), [source, key]);

  const write = (value: string) => {
    setText(value);
    if (editing) return;
    source.setDraft(key, value);
    source.setTyping(key, value.trim() !== '');
  };
  const save = (message: Message) => {
    if (over !== undefined && over > 0) return;
    if (text.trim() === '') {
      return askToDelete(context, () => {
        client.remove(key, message.seq ?? 0);
        sent();
      });
    }
    if (text.trimEnd() !== message.body) client.edit(key, message.seq ?? 0, text);
    sent();
  };
  /** Inserts a text at the cursor. It replaces the selection and the `back` characters before it. */
  const insert = (piece: string, back = 0) => {
    const element = field.current;
    if (element === null) return;
    const { selectionStart, selectionEnd } = element;
    // Move the cursor now: in the next frame, the user may have typed more text.
    element.setRangeText(piece, selectionStart - back, selectionEnd, 'end');
    write(element.value);
    element.focus({ preventScroll: true });
  };
  const send = () => {
    if (editing) return save(editing);
    if (!sendable) return;
    if (!attach.current?.(text, replyTo?.seq)) source.send(key, text, replyTo?.seq);
    setText('');
    source.setDraft(key, '');
    sent();
    field.current?.focus();
  };
  const onSticker = (sticker: Sticker) => {
    client.rich().then(one => one.sticker(key, sticker, { replyTo: replyTo?.seq, thread: source.thread }));
    sent();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a character is being composed, Enter chooses it. Safari reports this only by the key code.
    if (event.isComposing || event.keyCode === 229) return;
    if (suggest.current?.onKey(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === 'Escape' && (replyTo !== undefined || editing !== undefined)) {
      event.preventDefault();
      cancel();
    } else if (event.key === 'ArrowUp' && text === '' && !editing && !event.shiftKey) {
      event.preventDefault();
      editLast();
    } else if ((event.ctrlKey || event.metaKey) && !event.altKey && /^[bi]$/i.test(event.key)) {
      event.preventDefault();
      mark(event.currentTarget as HTMLTextAreaElement, event.key.toLowerCase() === 'b' ? '**' : '_', write);
    } else if (
      event.key === 'Enter' &&
      !event.shiftKey &&
      !event.altKey &&
      !event.ctrlKey &&
      !event.metaKey
    ) {
      event.preventDefault();
      send();
    }
  };

  return (
    <form
      class="composer"
      onSubmit={event => {
        event.preventDefault();
        send();
      }}
    >
      {completes.current && (
        <Lazy
          part={suggestions}
          props={{ handle: suggest, field, text, conversation, onInsert: insert, describe: setListed }}
          onFailed={() => undefined}
        />
      )}
      {concerned && (
        <Lazy
          part={replyOrEditPart}
          props={{ message: concerned, editing: concerned === editing, onCancel: cancel }}
          onFailed={() => undefined}
        />
      )}
      <div class="composer-line">
        {!editing && (
          <Lazy
            part={attachPart}
            canWait
            props={{
              handle: attach,
              field,
              conversation,
              source,
              replyTo: replyTo?.seq,
              onChange: setFiles,
              onSent: sent,
            }}
            onFailed={() => undefined}
          />
        )}
        <textarea
          ref={field}
          class="composer-field"
          rows={1}
          dir={text === '' ? undefined : 'auto'}
          enterkeyhint="send"
          autocapitalize="sentences"
          aria-label={editing ? words.editing : placeholder}
          aria-autocomplete="list"
          aria-controls={listed === undefined ? undefined : SUGGESTIONS_ID}
          aria-activedescendant={listed}
          aria-describedby={over === undefined ? undefined : 'composer-limit'}
          aria-invalid={over !== undefined && over > 0}
          placeholder={placeholder}
          value={text}
          onInput={event => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button
          type="button"
          class="icon-button composer-emoji"
          aria-label={words.emoji}
          title={words.emoji}
          onClick={event =>
            pickEmoji({
              anchor: event.currentTarget,
              onPick: emoji => insert(emoji),
              ...(!editing && { onSticker }),
            })
          }
        >
          <Icon name="smile" />
        </button>
        <button
          type="submit"
          class="composer-send"
          aria-label={editing ? words.save : words.send}
          title={editing ? words.save : words.send}
          aria-disabled={!sendable && !editing}
        >
          <Icon name={editing ? 'check' : 'send'} />
        </button>
      </div>
      {over !== undefined && over > -NEAR_LIMIT && (
        <p id="composer-limit" class={over > 0 ? 'composer-limit is-over' : 'composer-limit'}>
          {over > 0 ? words.bytesOver(over) : words.bytesLeft(-over)}
        </p>
      )}
    </form>
  );
}

/** Puts the marks of bold or italic around the selection, or removes them. */
function mark(element: HTMLTextAreaElement, sign: string, write: (value: string) => void): void {
  const { value, selectionStart: from, selectionEnd: to } = element;
  const marked = value.slice(from, to);
  const n = sign.length;
  if (value.slice(from - n, from) === sign && value.slice(to, to + n) === sign) {
    element.setRangeText(marked, from - n, to + n);
    element.setSelectionRange(from - n, to - n);
  } else {
    element.setRangeText(sign + marked + sign, from, to);
    element.setSelectionRange(from + n, to + n);
  }
  write(element.value);
}

function isFocused(element: HTMLElement | null): boolean {
  return element !== null && focusBeside(element) === element;
}

function isAtMessage(element: HTMLElement | null): boolean {
  return element !== null && focusBeside(element)?.closest('.history') != null;
}

function focusBeside(element: HTMLElement): Element | null {
  return (element.getRootNode() as ShadowRoot).activeElement;
}

/** Makes the field as tall as its text, up to `MOST_HEIGHT`. */
function grow(element: HTMLTextAreaElement | null): void {
  if (element === null) return;
  element.style.height = 'auto';
  element.style.height = `${Math.min(element.scrollHeight, MOST_HEIGHT)}px`;
  element.style.overflowY = element.scrollHeight > MOST_HEIGHT ? 'auto' : 'hidden';
}
