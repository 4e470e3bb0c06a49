// Where a message is written.

import type { Conversation, Message } from '@kith/client';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Icon } from '../icon/icon.tsx';
import { PHONE } from '../shell/open_shell.ts';
import { useClient, useTopic, useWording } from '../surroundings.tsx';
import { bytesOver } from './body_bytes.ts';

interface Props {
  conversation: Conversation;
  field: { current: HTMLTextAreaElement | null };
  replyTo: Message | undefined;
  onCancelReply(): void;
  onSent(): void;
}

const MOST_HEIGHT = 132;
/** The counter shows from here on. */
const NEAR_LIMIT = 200;

export function Composer({ conversation, field, replyTo, onCancelReply, onSent }: Props) {
  const client = useClient();
  const words = useWording();
  const key = conversation.key;
  const me = useTopic('me', one => one.me());
  const person = useTopic(`person:${conversation.with.user}`, one => one.person(conversation.with.user));
  const draft = useTopic(`draft:${key}`, one => one.draft(key));
  const [text, setText] = useState(draft);
  const over = bytesOver(text.trimEnd(), me?.limits.body_bytes);
  const sendable = text.trim() !== '' && !(over !== undefined && over > 0);

  // The draft may have been written, or sent, in another tab. Before anything is painted, as the focus is set: whoever
  // types at once would otherwise lose the first letters.
  useLayoutEffect(() => {
    if (document.activeElement === null || draft === '' || !isFocused(field.current)) setText(draft);
  }, [draft, field]);
  useLayoutEffect(() => grow(field.current), [text, field]);
  useLayoutEffect(() => {
    // On a phone the keyboard would cover what one wants to read first.
    if (!matchMedia(PHONE).matches) field.current?.focus({ preventScroll: true });
  }, [field]);
  useEffect(() => () => client.setTyping(key, false), [client, key]);

  const write = (value: string) => {
    setText(value);
    client.setDraft(key, value);
    client.setTyping(key, value.trim() !== '');
  };
  const send = () => {
    if (!sendable) return;
    client.send(key, text, replyTo?.seq);
    setText('');
    client.setDraft(key, '');
    onSent();
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a character is being composed, Enter chooses it; Safari says so only by the key code.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === 'Escape' && replyTo !== undefined) {
      event.preventDefault();
      onCancelReply();
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
      {replyTo !== undefined && (
        <div class="composer-reply">
          <Icon name="reply" mirrored />
          <span class="grow">
            <span class="composer-reply-name clip">
              {words.replyingTo(replyTo.mine ? words.you : person.name)}
            </span>
            <span class="composer-reply-body clip">
              <bdi>{replyTo.body.slice(0, 200)}</bdi>
            </span>
          </span>
          <button type="button" class="icon-button" aria-label={words.cancelReply} onClick={onCancelReply}>
            <Icon name="close" />
          </button>
        </div>
      )}
      <div class="composer-line">
        <textarea
          ref={field}
          class="composer-field"
          rows={1}
          dir={text === '' ? undefined : 'auto'}
          enterkeyhint="send"
          autocapitalize="sentences"
          aria-label={words.writeTo(person.name)}
          aria-describedby={over === undefined ? undefined : 'composer-limit'}
          aria-invalid={over !== undefined && over > 0}
          placeholder={words.writeTo(person.name)}
          value={text}
          onInput={event => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button
          type="submit"
          class="composer-send"
          aria-label={words.send}
          title={words.send}
          aria-disabled={!sendable}
        >
          <Icon name="send" />
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

function isFocused(element: HTMLElement | null): boolean {
  return element !== null && (element.getRootNode() as ShadowRoot).activeElement === element;
}

/** As tall as its text, up to a bound. */
function grow(element: HTMLTextAreaElement | null): void {
  if (element === null) return;
  element.style.height = 'auto';
  element.style.height = `${Math.min(element.scrollHeight, MOST_HEIGHT)}px`;
  element.style.overflowY = element.scrollHeight > MOST_HEIGHT ? 'auto' : 'hidden';
}
