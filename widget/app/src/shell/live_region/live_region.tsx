// The only live region of the widget for screen readers.

import type { ConversationKey } from '@kith/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient, useWording } from '../../app_context.tsx';

interface Props {
  /** Receives the function that announces a text. */
  announcement: { current: (text: string) => void };
  /** The chat on the screen. Its messages are announced even if the chat is muted. */
  chat: ConversationKey | undefined;
}

export function LiveRegion({ announcement, chat }: Props) {
  const client = useClient();
  const words = useWording();
  const [said, setSaid] = useState({ text: '', turn: 0 });
  const onScreen = useRef(chat);
  onScreen.current = chat;

  useEffect(() => {
    const say = (text: string) => setSaid(before => ({ text, turn: before.turn + 1 }));
    announcement.current = say;
    let leave: (() => void) | undefined;
    let over = false;
    import('./announcer.ts').then(
      one => {
        if (!over) leave = one.announceMessages(client, words, onScreen, say);
      },
      () => undefined,
    );
    return () => {
      over = true;
      leave?.();
    };
  }, [client, words, announcement]);

  return (
    <div class="hidden-text" role="status" aria-live="polite" aria-atomic="true" data-live>
      {/* A new node each time, so that screen readers announce a repeated text again. */}
      <span key={said.turn} dir="auto">
        {said.text}
      </span>
    </div>
  );
}
