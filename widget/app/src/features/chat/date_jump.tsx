// The bar below a chat header that jumps to a day: the chat shows the first message of that day or later.

import { type Conversation, isRoom } from '@kith/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAppContext } from '../../app_context.tsx';
import { CloseButton } from '../../ui/close_button/close_button.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import { useWords } from '../../wording/late_words.ts';
import { idOfRoom } from '../group_calls/room_id.ts';
import css from './date_jump.css?inline';
import { firstShown, isoDay, startOfDay } from './day_start.ts';

export { lateWords as words } from '../../wording/late_words.ts';

interface Props {
  conversation: Conversation;
  onClose(): void;
}

/** Page size of the request. The first messages of a day may be thread replies, which have no row. */
const PAGE = 50;

export function DateJump({ conversation, onClose }: Props) {
  useStyles(css);
  const { client, announce, openChat } = useAppContext();
  const words = useWords('chats');
  const field = useRef<HTMLInputElement>(null);
  const [loading, setLoading] = useState(false);
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), []);

  const jump = async () => {
    const since = startOfDay(field.current?.value ?? '');
    if (since === undefined || loading) return;
    setLoading(true);
    try {
      const { key } = conversation;
      const to = isRoom(key) ? { conversation: await idOfRoom(client, key) } : { user: key.slice(1) };
      const event = await client.ask({ t: 'history', to, since, limit: PAGE });
      const seq = event.t === 'history' ? firstShown(event.messages) : undefined;
      openChat(key, seq ?? conversation.last?.seq);
      onClose();
    } catch {
      announce(words.loadFailed);
      setLoading(false);
    }
  };
  return (
    <form
      class="date-jump"
      aria-label={words.jumpToDate}
      aria-busy={loading}
      onSubmit={event => {
        event.preventDefault();
        void jump();
      }}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <input
        ref={field}
        type="date"
        class="date-jump-day grow"
        aria-label={words.jumpToDate}
        required
        max={isoDay(new Date())}
      />
      <button type="submit" class="button">
        {words.showDate}
      </button>
      <CloseButton label={words.close} onClose={onClose} />
    </form>
  );
}
