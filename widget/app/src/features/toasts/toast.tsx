// The toast in the corner for a message whose chat is not on the screen. It disappears after `SHOWN_MS`.

import { isRoom } from '@kith/client';
import { useEffect, useState } from 'preact/hooks';
import { useAppContext, useTopic } from '../../app_context.tsx';
import { Avatar } from '../../ui/avatar/avatar.tsx';
import { Icon } from '../../ui/icon/icon.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useEffectEvent } from '../../ui/use_effect_event/use_effect_event.ts';
import { useWords } from '../../wording/late_words.ts';
import { gistOf } from '../message_text/plain_text.ts';
import type { Toast } from './message_alerts.ts';
import css from './toast.css?inline';

/** Includes the texts for missed calls. */
export { words } from '../call_log/call_text.ts';

export const SHOWN_MS = 7_000;

export function DrawnToast({ toast, onDone }: { toast: Toast; onDone: () => void }) {
  useStyles(css);
  const { client, openChat, announce } = useAppContext();
  const words = useWords('toasts');
  const { key, message, count, unheard } = toast;
  const person = useTopic(`person:${message.from}`, one => one.person(message.from));
  const conversation = useTopic(`conversation:${key}`, one => one.conversation(key));
  const { name } = person;
  const where = isRoom(key) ? words.inRoom({ name, room: conversation.with.name }) : name;
  const [held, setHeld] = useState(false);

  const done = useEffectEvent(onDone);
  // The timer runs only while the page is visible and the toast has neither the pointer nor the focus.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer message restarts the timer
  useEffect(() => {
    if (held) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      timer = document.visibilityState === 'visible' ? setTimeout(done, SHOWN_MS) : undefined;
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [held, message.id, done]);
  const readOut = useEffectEvent(() =>
    announce(words.said(client.person(message.from).name) + gistOf(message, words)),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: each message is announced once
  useEffect(() => {
    if (unheard) readOut();
  }, [unheard, message.id, readOut]);

  return (
    <div
      class="toast"
      part="toast"
      role="group"
      aria-label={words.messageFrom(person.name)}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onDone();
      }}
    >
      <button
        type="button"
        class="toast-main"
        onClick={() => {
          onDone();
          openChat(key);
        }}
      >
        <Avatar person={person} size="small" />
        <span class="toast-words grow">
          <span class="toast-name clip">{where}</span>
          {/* The ellipsis is at the end in the text's own direction, not in the widget's direction. */}
          <span class="toast-text" dir="auto">
            {gistOf(message, words)}
          </span>
        </span>
        {count > 1 && (
          <span class="badge">
            <span aria-hidden="true">{words.number(count)}</span>
            <span class="hidden-text">{words.unread(count)}</span>
          </span>
        )}
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={words.dismiss}
        title={words.dismiss}
        onClick={onDone}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
