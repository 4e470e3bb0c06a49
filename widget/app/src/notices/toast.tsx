// A message whose chat is not on the screen, for some seconds in the corner.

import type { ConversationKey } from '@kith/client';
import { useEffect, useReducer, useState } from 'preact/hooks';
import { Avatar } from '../avatar/avatar.tsx';
import { Icon } from '../icon/icon.tsx';
import { useSurroundings, useTopic } from '../surroundings.tsx';
import type { Notices, Toast } from './notices.ts';

export const SHOWN_MS = 7_000;

/** `onScreen`: what the member has opened meanwhile needs no toast any more. */
export function ToastPlace({
  notices,
  onScreen,
}: {
  notices: Notices;
  onScreen(key: ConversationKey): boolean;
}) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => notices.subscribe(() => redraw(undefined)), [notices]);
  const toast = notices.toast();
  const superfluous = toast !== undefined && onScreen(toast.key);
  useEffect(() => {
    if (superfluous) notices.dismiss();
  }, [notices, superfluous]);
  if (toast === undefined || superfluous) return null;
  return <DrawnToast key={toast.key} toast={toast} onDone={() => notices.dismiss()} />;
}

function DrawnToast({ toast, onDone }: { toast: Toast; onDone: () => void }) {
  const { client, wording: words, openChat, announce } = useSurroundings();
  const { key, message, count, unheard } = toast;
  const person = useTopic(`person:${message.from}`, one => one.person(message.from));
  const [held, setHeld] = useState(false);

  // Time passes while somebody can see it, and does not hold it.
  useEffect(() => {
    if (held) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      timer = document.visibilityState === 'visible' ? setTimeout(onDone, SHOWN_MS) : undefined;
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
    // A newer message begins anew.
  }, [held, message.id]);
  useEffect(() => {
    if (unheard) announce(words.announceOne(client.person(message.from).name, message.body));
  }, [unheard, message.id]);

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
          <span class="toast-name clip">
            <bdi>{person.name}</bdi>
          </span>
          {/* Cut where its own direction ends, not where the widget's does. */}
          <span class="toast-text" dir="auto">
            {message.body}
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
